import { existsSync, mkdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';
import { startTestServer, testPassword } from '../support/server/start-server.ts';
import { create, widget } from './replay-stage.ts';

test('what a killed replay leaves is removed at the next start', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const { dataDir } = server;
  await create(server, widget('w'));
  await server.close();
  const watcher = watch(dataDir);
  const begun = new Promise<void>((resolve) => {
    watcher.on('change', (_event, file) => {
      if (file === 'replay') resolve();
    });
  });
  const command = runCommandLine(['audit', 'replay', '--stopped'], {
    cwd: dataDir,
    env: { DATA_DIR: dataDir, ADMIN_PASSWORD: testPassword },
  });
  await begun;
  watcher.close();
  command.child.kill('SIGKILL');
  t.equal(await command.exited(), 'SIGKILL');
  const folder = join(dataDir, 'replay');
  mkdirSync(join(folder, 'another'), { recursive: true });
  writeFileSync(join(folder, 'another', 'tables.mdb'), 'a part');
  const again = await server.restart();
  t.teardown(async () => again.remove());
  t.notOk(existsSync(folder));
});
