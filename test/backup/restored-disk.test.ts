/** A restore needs room for the whole log, and leaves nothing on a disk without it. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { restoreBackup } from '../../src/server/backup/restore-backup.ts';
import { idOf } from '../support/id-of.ts';
import { noSmallDisk, smallDisk } from '../support/server/small-disk.ts';
import { runCommand } from '../support/server/command-run.ts';
import { domain, sourceId, writeSource } from '../log-copy/source-log.ts';
import { folder, runBackup, withLog } from './backup-stage.ts';

const small = noSmallDisk === undefined ? {} : { skip: noSmallDisk };

test('a restore onto a disk without room is refused or fails with advice, and leaves nothing', small, async (t) => {
  const dir = await folder(t);
  const task = { logDir: join(dir, 'log'), backupDir: dir, identity: { logId: sourceId, epoch: 0, domain } };
  const written = Array.from({ length: 30 }, (_, place) => ({
    stream: `object:things/${String(place)}`,
    bytes: 200_000,
  }));
  await withLog(task.logDir, async (log) => writeSource(log, written));
  await runBackup(task);
  const disk = smallDisk(t, 32 * 1_048_576);
  const dataDir = join(disk.dir, 'servers', 'data');
  const restore = async (freeMib: number): ReturnType<typeof runCommand> => {
    disk.fill(freeMib * 1_048_576);
    return runCommand(['restore', join(dir, 'one')], { variables: { DATA_DIR: dataDir } });
  };
  for (const free of [1, 5]) {
    const refusal = /is full: [15]\.0 MiB are free, and the restored log needs at least \d\d MiB in all; free/u;
    t.match(await restore(free), { code: 1, out: '', err: refusal });
    t.notOk(existsSync(join(disk.dir, 'servers')), 'no folder');
  }
  disk.clear();
  mkdirSync(dataDir, { recursive: true });
  const ids = { clock: systemClock, uuid: () => idOf('an event of the restore') };
  let records = 0;
  const onRecord = (): void => {
    if ((records += 1) === 5) disk.fill(65_536);
  };
  await t.rejects(restoreBackup({ ...ids, folder: join(dir, 'one'), dataDir, keys: [], onRecord }), {
    name: 'StartError',
    message: /is full: .* are free, and the restored log needs at least [\d.]+ MiB in all; free space/u,
  });
  t.strictSame(readdirSync(dataDir), []);
  t.match(await restore(24), { code: 0, out: /epoch 1 begins/u });
});
