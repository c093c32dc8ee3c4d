/** Two platforms over one EventStoreDB, separated by EVENTSTORE_PREFIX alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

import { test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';
import { logSettings, eventsOf } from '../support/memory/event-log.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { startLogServer, commentServer } from './support/log-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

test('two platforms share a database without seeing each other, and one is copied within it', async (t) => {
  commentServer(t);
  const log = await startLogServer(t);
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-shared-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const one = { url: log.url, prefix: `one-${randomUUID()}-` };
  const other = { url: log.url, prefix: `other-${randomUUID()}-` };
  const start = async (name: string, at: typeof one, domain: string) =>
    startTestServer({ dataDir: join(folder, name), environment: { ...logSettings(at), PLATFORM_DOMAIN: domain } });
  const servers = [await start('one', one, 'one.example'), await start('other', other, 'other.example')];
  const names = async (server: (typeof servers)[number]): Promise<readonly string[]> => {
    const { items } = (await (await server.call(widgets)).json()) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    return items.map(({ metadata: { name } }) => name);
  };
  for (const [index, server] of servers.entries()) {
    for (const name of ['same', `of-${index.toString()}`]) {
      t.equal(
        (
          await server.call(widgets, {
            method: 'POST',
            body: { metadata: { name }, spec: { title: `${name} ${index.toString()}` } },
          })
        ).status,
        201,
      );
    }
  }
  t.strictSame(await Promise.all(servers.map(names)), [
    ['of-0', 'same'],
    ['of-1', 'same'],
  ]);
  await Promise.all(servers.map(async (server) => server.close()));

  const third = { url: log.url, prefix: `third-${randomUUID()}-` };
  const copy = runCommandLine(
    ['log', 'copy', '--from', log.url, '--from-prefix', one.prefix, '--to', log.url, '--to-prefix', third.prefix],
    { cwd: folder },
  );
  t.equal(await copy.exited(), 0, copy.stderr());
  t.match(
    copy.stdout(),
    new RegExp(`^esdb://\\S+ ${third.prefix} is now a complete copy of esdb://\\S+ ${one.prefix}: `, 'u'),
  );
  const ofObjects = async (at: typeof one): Promise<readonly string[]> =>
    (await eventsOf(at)).filter(({ stream }) => stream.startsWith('object:')).map(({ id }) => id);
  t.strictSame(await ofObjects(third), await ofObjects(one));
  const copied = await start('third', third, 'one.example');
  t.teardown(async () => copied.close());
  t.strictSame(await names(copied), ['of-0', 'same']);

  const wrong = runCommandLine(['log', 'copy', '--from', log.url, '--from-prefix', 'no dash', '--to', 'embedded:two'], {
    cwd: folder,
  });
  t.equal(await wrong.exited(), 2);
  t.match(wrong.stderr(), /--from-prefix must begin with a letter/u);
});
