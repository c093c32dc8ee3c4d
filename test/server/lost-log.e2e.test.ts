/** A missing embedded log with existing read models is not founded again: its content would be lost silently. */
import { existsSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

async function stopped(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => {
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  await server.call(widgets, { method: 'POST', body: { metadata: { name: 'w1' }, spec: { title: 'T' } } });
  await server.close();
  return server;
}

const losses: Readonly<Record<string, (log: string) => void>> = {
  empty: (log) => {
    truncateSync(join(log, 'data.mdb'), 0);
  },
  missing: (log) => {
    rmSync(join(log, 'data.mdb'));
  },
  'missing with its folder': (log) => {
    rmSync(log, { recursive: true });
  },
};

for (const [name, lose] of Object.entries(losses)) {
  test(`a log is refused when its file is ${name}, and nothing is written`, async (t) => {
    const { dataDir } = await stopped(t);
    const log = join(dataDir, 'log');
    lose(log);
    const before = existsSync(join(log, 'data.mdb')) ? statSync(join(log, 'data.mdb')).size : undefined;
    const message = new RegExp(
      `log/data.mdb is ${name.split(' ')[0] ?? ''}, but .*read-models .*restore .*/log from a backup.*remove ` +
        '.*/read-models',
      'u',
    );
    // Twice: the first try leaves nothing that lets the second one through, nor do read models of an unclean end.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await t.rejects(startTestServer({ dataDir }), { name: 'StartError', exitCode: 1, message });
      rmSync(join(dataDir, 'read-models', 'use.json'), { force: true });
    }
    t.equal(existsSync(join(log, 'data.mdb')) ? statSync(join(log, 'data.mdb')).size : undefined, before);
    for (const command of ['info', 'new-epoch']) {
      const run = runCommandLine(['log', command, '--log', `embedded:${dataDir}`], { cwd: t.testdir() });
      t.equal(await run.exited(), 2, command);
      t.match(run.stderr(), name === 'empty' ? message : /has no log/u);
    }
    rmSync(join(dataDir, 'read-models'), { recursive: true });
    const restarted = await startTestServer({ dataDir });
    t.match(await (await restarted.call(widgets)).json(), { total: 0 }, 'what the sentence says helps');
    await restarted.close();
  });
}
