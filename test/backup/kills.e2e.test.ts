/** The server, and the command that restores, are killed at drawn moments: what counted before counts after. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { verifiedRecords } from '../../src/server/backup/verify-backup.ts';
import { basic } from '../support/ask.ts';
import { runCommandLine, type CommandLine } from '../support/server/command-line.ts';
import { drawing } from '../log-copy/killed-copies.ts';
import { backupsPath, eventsIn, folder, rolesPath } from './backup-stage.ts';

const seed = Number(process.env['BACKUP_KILL_SEED'] ?? 17);
const kills = Number(process.env['BACKUP_KILLS'] ?? 6);
const password = 'a password of the test';
const headers = { authorization: basic('admin', password), 'content-type': 'application/json' };

/** Kills the process when the folder has changed so many times; after `over` at the latest. */
async function killAt(command: CommandLine, dir: string, changes: number, over: Promise<unknown>): Promise<void> {
  const watcher = watch(dir);
  let seen = 0;
  const reached = new Promise<void>((resolve) => {
    watcher.on('change', () => {
      seen += 1;
      if (seen === changes) resolve();
    });
  });
  await Promise.race([reached, over.catch(() => undefined)]);
  watcher.close();
  command.child.kill('SIGKILL');
  await command.exited();
}

test('a server killed at any moment of a backup leaves the last complete one valid', async (t) => {
  const cwd = await folder(t);
  const path = join(cwd, 'backups', 'one');
  mkdirSync(path, { recursive: true });
  const drawn = drawing(seed);
  const env = { PORT: '0', ADMIN_PASSWORD: password, BACKUP_DIR: 'backups', WRITE_BYTES_PER_USER: '0' };
  let [complete, made] = [0, 0];
  const start = async (): Promise<{ command: CommandLine; url: string }> => {
    const command = runCommandLine(['serve'], { cwd, env });
    return { command, url: /(http:\S+)/u.exec(await command.ready())?.[1] ?? '' };
  };
  const backUp = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}${backupsPath}`, { method: 'POST', headers, body: '{"name":"one"}' });
    const lines = (await answer.text()).trimEnd().split('\n');
    return lines.at(-1) ?? '';
  };
  for (let turn = 0; turn < kills; turn += 1) {
    const { command, url } = await start();
    for (let count = 0; count < 20; count += 1, made += 1) {
      const metadata = { name: `r-${String(made)}`, annotations: { 'example.com/text': 'x'.repeat(100_000) } };
      const body = JSON.stringify({ apiVersion: 'v1alpha1', kind: 'Role', metadata, rules: [] });
      t.equal((await fetch(`${url}${rolesPath}`, { method: 'POST', headers, body })).status, 201);
    }
    await killAt(command, path, 1 + drawn(12), backUp(url));
    const manifests = readdirSync(path).filter((name) => /^manifest-\d+\.json$/u.test(name)).length;
    t.ok(manifests >= complete, 'none is lost');
    complete = manifests;
    if (complete > 0) t.doesNotThrow(() => [...verifiedRecords(path, [])], `after ${String(turn)}`);
  }
  const { command, url } = await start();
  t.match(await backUp(url), /"kind":"Result"/u);
  t.match(await backUp(url), /"written":false/u);
  t.notOk(readdirSync(path).some((name) => name.endsWith('.part')));
  command.child.kill('SIGTERM');
  t.equal(await command.exited(), 0);
  const backedUp = [...verifiedRecords(path, [])].map(({ event }) => event.id);
  const events = (await eventsIn(join(cwd, 'data', 'log'))).map(({ id }) => id);
  t.strictSame(backedUp, events.slice(0, backedUp.length));
  t.ok(backedUp.length > made, 'with all roles');

  t.test('a killed restore is not served from, and the next one is whole', async (t) => {
    const options = { cwd, env: { DATA_DIR: 'restored' } };
    const dataDir = join(cwd, 'restored');
    for (let killed = 0; killed < 3;) {
      rmSync(dataDir, { recursive: true, force: true });
      mkdirSync(dataDir);
      const restore = runCommandLine(['restore', path], options);
      await killAt(restore, dataDir, 1 + drawn(4), once(restore.child, 'close'));
      // On a machine that is busy with other things it may have ended before.
      if (!existsSync(join(dataDir, 'log.restoring'))) continue;
      killed += 1;
      const server = runCommandLine(['serve'], { cwd, env: { ...env, DATA_DIR: 'restored' } });
      t.equal(await server.exited(), 2);
      t.match(server.stderr(), /log\.restoring belongs to an unfinished restore: run ledgerplane restore again/u);
      const again = runCommandLine(['restore', path], options);
      t.equal(await again.exited(), 0, again.stderr());
      const restored = (await eventsIn(join(dataDir, 'log'))).map(({ id }) => id);
      t.strictSame(restored.slice(0, -1), backedUp);
    }
  });
});
