import { existsSync, mkdirSync, rmSync, watch, writeFileSync } from 'node:fs';
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
  // On a machine that is busy with other things the command may end before it is killed.
  while ((await killReplay(dataDir)) !== 'SIGKILL');
  const folder = join(dataDir, 'replay');
  mkdirSync(join(folder, 'another'), { recursive: true });
  writeFileSync(join(folder, 'another', 'tables.mdb'), 'a part');
  const again = await server.restart();
  t.teardown(async () => again.remove());
  t.notOk(existsSync(folder));
});

/** Kills a replay once it has made its folder. Resolves with the end of the command. */
async function killReplay(dataDir: string): Promise<unknown> {
  rmSync(join(dataDir, 'replay'), { recursive: true, force: true });
  const watcher = watch(dataDir);
  const command = runCommandLine(['audit', 'replay', '--stopped'], {
    cwd: dataDir,
    env: { DATA_DIR: dataDir, ADMIN_PASSWORD: testPassword },
  });
  watcher.on('change', (_event, file) => {
    if (file === 'replay') command.child.kill('SIGKILL');
  });
  const end = await command.exited();
  watcher.close();
  if (end !== 'SIGKILL' && end !== 0) throw new Error(`it ended with ${String(end)}: ${command.stderr()}`);
  return end;
}
