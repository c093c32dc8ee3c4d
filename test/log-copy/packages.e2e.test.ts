/** The log contains installed plugins completely: a copy of the log has the plugin. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'tap';

import { tellerPackage, tellerVersionPath } from '../packages/teller-package.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { adminAuthorization, startTestServer } from '../support/server/start-server.ts';

const consolePath = '/apis/api.console.svc.run/v1alpha1/plugins';

test('a server on a copied log serves the plugin that was installed on the other', async (t) => {
  const one = await startTestServer();
  const send = async (path: string, archive: Buffer): Promise<number> => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(archive)]), 'package');
    return (
      await fetch(`${one.url}${consolePath}/${path}`, {
        method: 'POST',
        headers: { authorization: adminAuthorization },
        body: form,
      })
    ).status;
  };
  t.equal(await send('install', tellerPackage('1.0.0')), 201);
  t.equal(await send('teller/upgrade', tellerPackage('2.0.0', { format: 'zip' })), 200);
  t.equal(
    (await one.call('/apis/teller.example.com/v1/tales', { method: 'POST', body: { metadata: { name: 'one' } } }))
      .status,
    201,
  );
  await one.close();
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-copied-packages-'));
  t.teardown(async () => {
    await rm(dir, { recursive: true, force: true });
    await rm(one.dataDir, { recursive: true, force: true });
  });
  const run = async (
    ...args: string[]
  ): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> => {
    const command = runCommandLine(['log', ...args], { cwd: dir });
    const code = await command.exited();
    return { code, out: command.stdout(), err: command.stderr() };
  };
  const copied = await run('copy', '--from', `embedded:${one.dataDir}`, '--to', 'embedded:two');
  t.match(copied, { code: 0 }, copied.err);
  t.notOk(existsSync(join(dir, 'two', 'packages')), 'no folder was copied');
  for (const place of [one.dataDir, 'two'])
    t.match(await run('info', '--log', `embedded:${place}`), { code: 0, out: /\npackages +2\nhead /u });

  const two = await startTestServer({ dataDir: join(dir, 'two') });
  t.teardown(async () => two.close());
  t.same(await (await two.call(tellerVersionPath)).json(), { version: '2.0.0' });
  t.equal((await two.call('/apis/teller.example.com/v1/tales/one')).status, 200);
});
