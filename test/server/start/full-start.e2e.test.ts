import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { open } from 'lmdb';
import t, { test } from 'tap';
import type { Test } from 'tap';

import { prepareStoreFiles } from '../../../src/disk/store-files.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { noSmallDisk, smallDisk, type SmallDisk } from '../../support/server/small-disk.ts';

t.setTimeout(300_000);

const options = noSmallDisk === undefined ? {} : { skip: noSmallDisk };
const env = { PORT: '0', DATA_DIR: 'data', ADMIN_PASSWORD: 'a password of the test', LOG_LEVEL: 'error' };

/** A server has lived here. */
async function given(t: Test): Promise<SmallDisk> {
  const disk = smallDisk(t, 32 * 1_048_576);
  const run = runCommandLine(['serve'], { cwd: disk.dir, env });
  await run.ready();
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
  return disk;
}

/** A sentence on standard error, and exit 1: neither a signal nor a stack. */
async function says(
  t: Test,
  args: readonly string[],
  disk: SmallDisk,
  { words = /disk/u, nodeArgs = [] as readonly string[] } = {},
): Promise<void> {
  const run = runCommandLine(args, { cwd: disk.dir, env, nodeArgs });
  t.equal(await run.exited(), 1, `${args.join(' ')}: ${run.stderr()}`);
  t.match(run.stderr(), words);
  t.match(run.stderr(), /ledgerplane: [^\n]+\n$/u, 'the library may have said something before');
  t.notMatch(run.stderr(), /^ {4}at /mu);
}

test('a start on a full disk reports the free space, the required space and the remedy', options, async (t) => {
  const disk = await given(t);
  for (const without of ['nothing', 'read-models']) {
    rmSync(join(disk.dir, 'data', without), { recursive: true, force: true });
    disk.fill(0);
    await says(t, ['serve'], disk, {
      words: /data is full: 0 bytes are free, 4\.0 MiB are needed; free space .* or enlarge it/u,
    });
  }
});

test('commands that write a log report the same, and log info reads', options, async (t) => {
  const disk = await given(t);
  disk.fill(0);
  await says(t, ['log', 'new-epoch'], disk, { words: /4\.0 MiB are needed/u });
  await says(t, ['log', 'copy', '--from', 'embedded:', '--to', 'embedded:copy'], disk, {
    words: /4\.0 MiB are needed/u,
  });
  const info = runCommandLine(['log', 'info'], { cwd: disk.dir, env });
  t.equal(await info.exited(), 0, info.stderr());
  t.match(info.stdout(), /^events +\d+$/mu);
});

test('space that runs out between the check and the open ends the start with a clear error', options, async (t) => {
  const disk = await given(t);
  for (const pages of [0, 19]) {
    for (const removed of [['read-models'], ['read-models', 'log']]) {
      disk.clear();
      for (const folder of removed) rmSync(join(disk.dir, 'data', folder), { recursive: true, force: true });
      await says(t, ['serve'], disk, { nodeArgs: fillsAfterCheck(disk, pages * 4_096) });
    }
  }
});

/** The process itself fills the disk once it has looked how much is free. */
function fillsAfterCheck({ dir }: SmallDisk, leftBytes: number): readonly string[] {
  const script = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { statfsSync } = fs;
    let looks = 0;
    fs.statfsSync = (path) => {
      const space = statfsSync(path);
      if ((looks += 1) > 1) return space;
      const file = fs.openSync(${JSON.stringify(join(dir, 'filler'))}, 'w');
      try { while (statfsSync(path).bavail * 4096 > ${String(leftBytes)}) fs.writeSync(file, Buffer.alloc(4096, 1));
        } catch {}
      fs.closeSync(file);
      return space;
    };
    syncBuiltinESMExports();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

test('the files of a new store equal those that LMDB creates', async (t) => {
  const dir = t.testdir({ own: {}, ours: {} });
  const made = open({
    path: join(dir, 'own', 'tables.mdb'),
    noSubdir: true,
    noSync: true,
    maxDbs: 5,
    maxReaders: 1_024,
    encoding: 'binary',
  });
  const ours = { data: join(dir, 'ours', 'tables.mdb'), lock: join(dir, 'ours', 'tables.mdb-lock'), isFolder: false };
  prepareStoreFiles(ours);
  t.same(readFileSync(ours.data), readFileSync(join(dir, 'own', 'tables.mdb')));
  t.ok(statSync(ours.lock).size >= statSync(join(dir, 'own', 'tables.mdb-lock')).size);
  t.equal(statSync(ours.lock).mode & 0o777, 0o600);
  await made.close();
  writeFileSync(ours.data, 'something');
  prepareStoreFiles(ours);
  t.equal(readFileSync(ours.data, 'utf8'), 'something', 'an existing file is left alone');
});
