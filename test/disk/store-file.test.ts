import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { open } from 'lmdb';
import { test, type Test } from 'tap';

import { StartError } from '../../src/base/start-error.ts';
import { refuseDamagedFile } from '../../src/disk/store-file.ts';

async function folder(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-file-'));
  t.teardown(async () => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A file as the library leaves it after `commits` commits. */
async function storeFile(t: Test, commits: number): Promise<string> {
  const path = join(await folder(t), 'data.mdb');
  const store = open<string, number>({ path, noSubdir: true });
  for (let commit = 0; commit < commits; commit += 1) await store.put(commit, 'x'.repeat(5_000));
  await store.flushed;
  await store.close();
  return path;
}

const refused = (path: string): string | undefined => {
  try {
    refuseDamagedFile(path, 'restore it');
    return undefined;
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
};

test('a file that LMDB wrote is accepted after any number of commits; so are a missing and an empty one', async (t) => {
  for (const commits of [1, 2, 3, 10, 11, 64])
    t.equal(refused(await storeFile(t, commits)), undefined, `${String(commits)} commits`);
  const dir = await folder(t);
  t.equal(refused(join(dir, 'none.mdb')), undefined);
  await writeFile(join(dir, 'empty.mdb'), '');
  t.equal(refused(join(dir, 'empty.mdb')), undefined);
});

/** Its last pages are allocated and freed in one transaction, so the library never writes them. */
async function shortFile(t: Test, commits: number): Promise<string> {
  const path = await storeFile(t, commits);
  const store = open<string, number>({ path, noSubdir: true });
  store.transactionSync(() => {
    store.putSync(1_000_000, 'y'.repeat(300_000));
    store.removeSync(1_000_000);
  });
  await store.flushed;
  await store.close();
  return path;
}

test('a complete file without its last free pages is accepted, and refused if any other page is missing', async (t) => {
  for (const commits of [20, 3_000]) {
    const path = await shortFile(t, commits);
    const { length } = await readFile(path);
    t.ok(length < (lastPageOf(await readFile(path)) + 1) * 4_096, `${String(length)} bytes end before the last page`);
    t.equal(refused(path), undefined, `${String(commits)} commits`);
    const store = open<string, number>({ path, noSubdir: true });
    t.equal(store.get(0)?.length, 5_000);
    await store.put(2_000_000, 'z'.repeat(400_000));
    t.equal(store.get(2_000_000)?.length, 400_000, 'free pages are used again');
    await store.close();
  }
  const path = await shortFile(t, 20);
  const { length } = await readFile(path);
  for (const size of [length - 1, length - 4_096, 8_192]) {
    await truncate(path, size);
    t.match(refused(path), /must be at least/u, `${String(size)} of ${String(length)} bytes`);
  }
});

/** Of the newer of the two meta pages. */
function lastPageOf(bytes: Buffer): number {
  const [first, second] = [0, 4_096].map((page) => ({
    last: Number(bytes.readBigUInt64LE(page + 144)),
    transaction: bytes.readBigUInt64LE(page + 152),
  }));
  return first!.transaction > second!.transaction ? first!.last : second!.last;
}

test('a file cut short by a byte or by half is refused with the missing size', async (t) => {
  const path = await storeFile(t, 20);
  const { length } = await readFile(path);
  for (const size of [length - 1, length >> 1, 8_192, 4_096]) {
    await truncate(path, size);
    t.match(
      refused(path),
      /is damaged: its size is \d+ bytes, but it must be at least \d+ bytes; restore it/u,
      `${String(size)} of ${String(length)} bytes`,
    );
  }
  await truncate(path, 100);
  t.match(refused(path), /does not start with the header/u);
});

test('anything else is refused, and a folder in its place cannot be opened', async (t) => {
  const dir = await folder(t);
  await writeFile(join(dir, 'text'), 'no such file\n'.repeat(1_000));
  t.match(refused(join(dir, 'text')), /does not start with the header of an LMDB file/u);
  t.type(refused(dir), 'string');
});
