/** Whatever happens to the files of a backup is noticed, and its place is named. */
import { copyFileSync } from 'node:fs';
import { cp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { BackupDamagedError } from '../../src/server/backup/backup-errors.ts';
import { readChain } from '../../src/server/backup/backup-folder.ts';
import { encodeManifest, type Manifest } from '../../src/server/backup/manifest.ts';
import { restoreBackup } from '../../src/server/backup/restore-backup.ts';
import { verifiedRecords } from '../../src/server/backup/verify-backup.ts';
import { streamName } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { runCommand } from '../support/server/command-run.ts';
import { appended } from '../support/memory/log-events.ts';
import { noSmallDisk, smallDisk } from '../support/server/small-disk.ts';
import { domain, sourceId, writeSource } from '../log-copy/source-log.ts';
import { filesOf, folder, runBackup, withLog, type Task } from './backup-stage.ts';

const identity = { logId: sourceId, epoch: 0, domain };
const written = (count: number): { stream: string; bytes: number }[] =>
  Array.from({ length: count }, (_, index) => ({ stream: `object:things/${String(index % 3)}`, bytes: index }));

/** Two backups of a small log, of several segments. */
async function given(t: Test): Promise<{ readonly dir: string; readonly task: Task }> {
  const dir = await folder(t);
  const task = { logDir: join(dir, 'log'), backupDir: dir, identity, segmentBytesMax: 900 };
  await withLog(task.logDir, async (log) => writeSource(log, written(8)));
  await runBackup(task);
  await appendSome(task, ['another']);
  t.match(await runBackup(task), { written: true, number: 2, events: 1 });
  return { dir: join(dir, 'one'), task };
}

async function appendSome({ logDir }: Task, names: readonly string[] = ['a', 'b', 'c']): Promise<void> {
  await withLog(logDir, async (log) => {
    for (const name of names) {
      const event = { id: idOf(name), type: 'Made', data: Buffer.from('{}'), metadata: Buffer.from('{}') };
      appended(await log.append(streamName(`object:more/${name}`), [event], 'absent'));
    }
  });
}

function problemIn(dir: string): unknown {
  try {
    for (const record of verifiedRecords(dir, [])) if (record.position === 0) throw new Error('no position is 0');
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Where the frame begins that has each byte of a segment. */
function framesOf(bytes: Buffer): readonly number[] {
  const opening = bytes.indexOf(0x0a) + 1;
  const starts = new Array<number>(opening).fill(0);
  for (let at = opening; at < bytes.length;) {
    const length = 4 + bytes.readUInt32BE(at);
    for (let count = 0; count < length; count += 1) starts.push(at);
    at += length;
  }
  return starts;
}

test('a changed byte is noticed wherever it is, and the file and the record are named', async (t) => {
  const { dir } = await given(t);
  t.equal(problemIn(dir), undefined);
  const files = await filesOf(dir);
  t.ok(files.size > 4, [...files.keys()].join());
  const wrong: string[] = [];
  for (const [name, bytes] of files) {
    const frames = name.startsWith('segment') ? framesOf(bytes) : undefined;
    for (const [at, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[at] = byte ^ (1 << (at % 8));
      await writeFile(join(dir, name), changed);
      const problem = problemIn(dir);
      const place = frames === undefined ? `${name}: ` : `${name}, byte ${String(frames[at])}: `;
      const isNamed = problem instanceof BackupDamagedError && problem.message.includes(place);
      if (!isNamed) wrong.push(`${name} byte ${String(at)}: ${String(problem)}`);
    }
    await writeFile(join(dir, name), bytes);
  }
  t.strictSame(wrong, []);
  t.equal(problemIn(dir), undefined, 'all files are as they were');
});

test('files that are cut, longer, exchanged, missing or links are noticed', async (t) => {
  const { dir, task } = await given(t);
  const files = await filesOf(dir);
  const segments = [...files].filter(([name]) => name.startsWith('segment'));
  const [[first, firstBytes], [second, secondBytes]] = segments as [[string, Buffer], [string, Buffer]];
  const refused = async (what: string, message: RegExp): Promise<void> => {
    t.match(problemIn(dir), { name: 'BackupDamagedError', message }, what);
    await rm(dir, { recursive: true });
    await cp(`${dir}.copy`, dir, { recursive: true });
  };
  await cp(dir, `${dir}.copy`, { recursive: true });
  for (let length = 0; length < firstBytes.length; length += 1) {
    await writeFile(join(dir, first), firstBytes.subarray(0, length));
    t.match(problemIn(dir), { message: new RegExp(`${first}, byte \\d+: `, 'u') }, `cut to ${String(length)}`);
  }
  await writeFile(join(dir, first), Buffer.concat([firstBytes, Buffer.from('more')]));
  await refused('longer', /byte \d+: it has bytes after its last record/u);
  await writeFile(join(dir, first), secondBytes);
  await writeFile(join(dir, second), firstBytes);
  await refused('exchanged', /belongs to position/u);
  await rm(join(dir, second));
  await refused('missing', new RegExp(`${second}: it cannot be read`, 'u'));
  await rename(join(dir, first), join(dir, 'elsewhere'));
  await symlink('elsewhere', join(dir, first));
  await refused('a link', /it cannot be read: ELOOP/u);
  await rm(join(dir, 'manifest-0000001.json'));
  await refused('without its first manifest', /manifest-0000001\.json: it is missing/u);
  await writeFile(join(dir, 'manifest-0000002.json'), files.get('manifest-0000001.json') ?? '');
  await refused('a manifest in the place of another', /its number is not valid/u);
  await rm(join(dir, second));
  await t.rejects(runBackup(task), { message: new RegExp(`${second}: it is missing`, 'u') }, 'it is not continued');
});

test('a backup without a signed checkpoint says why, and so does each later look at it', async (t) => {
  const { dir, task } = await given(t);
  t.match(await runBackup(task), { written: false, unsigned: 'a test', tree: { signed: false } });
  await appendSome(task);
  const long = 'r'.repeat(10_000);
  t.match(await runBackup({ ...task, checkpoint: { unsigned: long } }), { written: true, unsigned: /^r{500}$/u });
  const result = verifiedRecords(dir, []);
  let next = result.next();
  while (next.done !== true) next = result.next();
  t.match(next.value, { signature: 'missing', latest: { tree: { unsigned: /^r{500}$/u } } });
});

test('a manifest with a text that a terminal would not only print is refused', async (t) => {
  const { dir } = await given(t);
  const { manifests } = readChain(dir);
  const name = join(dir, 'manifest-0000002.json');
  for (const member of ['logId', 'domain', 'time'] as const) {
    const [, latest] = manifests as [Manifest, Manifest];
    await writeFile(name, encodeManifest({ ...latest, [member]: '\u001b[2J' }));
    t.match(problemIn(dir), { message: new RegExp(`manifest-0000002.json: its ${member} is not valid`, 'u') });
  }
});

test('a restore of a damaged backup leaves nothing, and one of a whole backup has all its records', async (t) => {
  const { dir, task } = await given(t);
  const files = await filesOf(dir);
  const dataDir = await folder(t);
  const ids = { clock: systemClock, uuid: () => idOf('an event of the restore') };
  const restore = { ...ids, folder: dir, dataDir, keys: [], onRecord: () => undefined };
  const last = [...files].filter(([name]) => name.startsWith('segment')).at(-1);
  const [name = '', bytes = Buffer.alloc(0)] = last ?? [];
  await writeFile(join(dir, name), Buffer.from(bytes).fill(0, bytes.length - 1));
  await t.rejects(restoreBackup(restore), { name: 'BackupDamagedError', message: /wrong checksum/u });
  t.strictSame([...(await filesOf(dataDir)).keys()], []);

  await writeFile(join(dir, name), bytes);
  const missing = join(dataDir, 'servers', 'one');
  await writeFile(join(dir, name), Buffer.from(bytes).fill(0, bytes.length - 1));
  t.match(await runCommand(['restore', dir], { variables: { DATA_DIR: missing } }), {
    code: 1,
    err: /wrong checksum/u,
  });
  t.strictSame([...(await filesOf(dataDir)).keys()], [], 'no folder of a server');
  await writeFile(join(dir, name), bytes);
  t.match(await restoreBackup(restore), { epoch: 1, backups: 2, signature: 'missing' });
  const again = { ...task, logDir: join(dataDir, 'log'), name: 'again' };
  t.match(await runBackup(again), { number: 1 });
  const restored = [...verifiedRecords(join(task.backupDir, 'again'), [])];
  const originals = [...verifiedRecords(dir, [])];
  t.equal(restored.length, originals.length + 1, 'and the epoch');
  t.strictSame(
    restored.slice(0, -1).map(({ bytes: record }) => record.toString('hex')),
    originals.map(({ bytes: record }) => record.toString('hex')),
  );
  t.match(restored.at(-1)?.event, { type: 'EpochStarted', stream: 'platform:log' });
});

test('a backup that is stopped at any point leaves the folder as it was, and the next one is whole', async (t) => {
  const { dir, task } = await given(t);
  await appendSome(task);
  const before = await filesOf(dir);
  let stops = 0;
  for (;;) {
    let left = stops;
    const outcome = await runBackup(task, () => (left -= 1) < 0).catch((error: unknown) => error);
    if (!(outcome instanceof Error)) break;
    t.match(outcome, { name: 'BackupStoppedError' });
    t.strictSame(await filesOf(dir), before);
    stops += 1;
  }
  t.ok(stops >= 2, `it was stopped at ${String(stops)} points`);
  t.equal(problemIn(dir), undefined);
  t.equal([...verifiedRecords(dir, [])].length, await eventCount(task));
});

async function eventCount({ logDir }: Task): Promise<number> {
  return withLog(logDir, async (log) => Number(await log.head()));
}

test('what a killed backup has left is removed, and folders of other logs or later states are refused', async (t) => {
  const { dir, task } = await given(t);
  const names = [...(await filesOf(dir)).keys()];
  for (const name of [
    'segment-0000003-0001.records',
    'segment-0000003-0002.records.part',
    'manifest-0000003.json.part',
    'manifest-0000003.json.new',
  ])
    await writeFile(join(dir, name), 'a part');
  await writeFile(join(dir, 'a note of the operator'), 'kept');
  t.match(await runBackup(task), { written: false });
  t.strictSame([...(await filesOf(dir)).keys()].sort(), [...names, 'a note of the operator'].sort());

  const other = { ...task, identity: { ...identity, logId: idOf('another log') } };
  await t.rejects(runBackup(other), { reason: 'already-exists', message: /has backups of log/u });
  const logDir = join(task.backupDir, 'shorter');
  await withLog(logDir, async (log) => writeSource(log, written(4)));
  await t.rejects(runBackup({ ...task, logDir }), { reason: 'already-exists', message: /before a restore/u });
  const branch = join(task.backupDir, 'branch');
  await withLog(branch, async (log) => writeSource(log, written(30)));
  await t.rejects(runBackup({ ...task, logDir: branch }), { reason: 'already-exists', message: /before a restore/u });
});

test('of two servers that write to a folder at once, one fails, and the files of the other stay', async (t) => {
  const { dir, task } = await given(t);
  await appendSome(task);
  const ahead = join(task.backupDir, 'ahead');
  await cp(dir, ahead, { recursive: true });
  t.match(await runBackup({ ...task, name: 'ahead' }), { number: 3 });
  const names = [...(await filesOf(ahead)).keys()].filter((name) => name.includes('-0000003'));
  for (const written of [names, names.filter((name) => name.startsWith('segment'))]) {
    let outcome: unknown;
    for (let turn = 0; ; turn += 1) {
      for (const name of names) await rm(join(dir, name), { force: true });
      let left = turn;
      const other = (): boolean => {
        if ((left -= 1) === -1) for (const name of written) copyFileSync(join(ahead, name), join(dir, name));
        return false;
      };
      outcome = await runBackup(task, other).catch((error: unknown) => error);
      if (left >= 0) break;
      t.match(outcome, { message: /one was changed during the backup: another server writes to it/u }, String(turn));
      t.strictSame(
        [...(await filesOf(dir)).keys()].filter((name) => name.includes('-0000003')),
        written,
      );
      t.equal(problemIn(dir), undefined);
    }
    t.match(outcome, { number: 3 }, 'without the other one it ends');
  }
});

test('a folder belongs to one epoch: a restored server is refused, and the old server goes on', async (t) => {
  const { dir, task } = await given(t);
  const dataDir = await folder(t);
  const ids = { clock: systemClock, uuid: () => idOf('an event of the restore') };
  await restoreBackup({ ...ids, folder: dir, dataDir, keys: [], onRecord: () => undefined });
  const before = await filesOf(dir);
  const restored = { ...task, logDir: join(dataDir, 'log'), identity: { ...identity, epoch: 1 } };
  await t.rejects(runBackup(restored), {
    reason: 'already-exists',
    message: /one has backups of epoch 0 of this log, which is in epoch 1 .* choose another name/u,
  });
  t.strictSame(await filesOf(dir), before, 'nothing was written');
  t.match(await runBackup({ ...restored, name: 'of-epoch-1' }), { number: 1 });
  await t.rejects(runBackup({ ...task, name: 'of-epoch-1' }), { message: /has backups of epoch 1 .* in epoch 0/u });
  await appendSome(task);
  t.match(await runBackup(task), { written: true, number: 3, events: 3 });
  t.equal(problemIn(dir), undefined);
});

const small = noSmallDisk === undefined ? {} : { skip: noSmallDisk };
test('a disk that fills up during a backup costs that backup alone', small, async (t) => {
  const { task } = await given(t);
  const disk = smallDisk(t, 4 * 1_048_576);
  const there = { ...task, backupDir: disk.dir };
  t.match(await runBackup(there), { written: true });
  const before = await filesOf(join(disk.dir, 'one'));
  await appendSome(task);
  const fill = (): boolean => {
    disk.fill(0);
    return false;
  };
  await t.rejects(runBackup(there, fill), { code: 'ENOSPC' });
  t.strictSame(await filesOf(join(disk.dir, 'one')), before);
  disk.clear();
  t.match(await runBackup(there), { written: true, number: 2 });
  t.equal(problemIn(join(disk.dir, 'one')), undefined);
});
