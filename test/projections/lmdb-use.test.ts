/** Which tables are trusted: those of an unclean end where they lie, and copies of those that were closed in order. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { test, type Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';

const childPath = fileURLToPath(new URL('tables-child.js', import.meta.url));

type Running = { readonly folder: string; readonly dir: string; readonly child: ChildProcess };

/** Tables that another process has open and writes. */
async function running(t: Test): Promise<Running> {
  const folder = t.testdir();
  return opened(t, { folder, dir: join(folder, 'tables') });
}

async function opened(t: Test, { folder, dir }: Omit<Running, 'child'>): Promise<Running> {
  const child = spawn(process.execPath, [childPath, dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return { folder, dir, child };
}

async function end({ child }: Running, how: 'killed' | 'closed'): Promise<void> {
  const ended = once(child, 'exit');
  if (how === 'killed') child.kill('SIGKILL');
  else child.stdin?.end();
  await ended;
}

/** The events that the tables say they have folded; undefined where they were thrown away. */
async function folded(dir: string): Promise<number | undefined> {
  const tables = new LmdbTables(dir);
  const { events } = tables.checkpoint() ?? {};
  await tables.close();
  return events;
}

function copied({ folder, dir }: Running, name: string): string {
  const copy = join(folder, name);
  cpSync(dir, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

test('tables of a killed process are trusted in place, and after a move', async (t) => {
  const tables = await running(t);
  await end(tables, 'killed');
  const moved = join(tables.folder, 'moved');
  renameSync(tables.dir, moved);
  t.ok(await folded(moved));
});

test('a copy of open tables is not trusted, with any process still running', async (t) => {
  const tables = await running(t);
  const copies = ['at once', 'while it is killed', 'later'].map((name) => copied(tables, name));
  t.equal(await folded(copies[0]!), undefined);
  await end(tables, 'killed');
  t.equal(await folded(copies[1]!), undefined);
  t.ok(await folded(tables.dir));
  t.equal(await folded(copies[2]!), undefined);
  t.equal(await folded(copied(tables, 'of a clean end')), await folded(tables.dir), 'it was closed in order meanwhile');
});

test('another name of the same file is not trusted while its process runs, and changes nothing for it', async (t) => {
  const tables = await running(t);
  const linked = join(tables.folder, 'linked');
  mkdirSync(linked);
  for (const file of readdirSync(tables.dir)) linkSync(join(tables.dir, file), join(linked, file));
  t.equal(await folded(linked), undefined);
  await end(tables, 'closed');
  t.ok(await folded(tables.dir));
});

test('copies of properly closed tables are trusted, one after the other', async (t) => {
  const tables = await running(t);
  await end(tables, 'closed');
  const events = await folded(tables.dir);
  t.ok(events);
  for (const name of ['first', 'second']) t.equal(await folded(copied(tables, name)), events);
});

test('tables of a killed process are not trusted after a reboot: pages may not have been written', async (t) => {
  const tables = await running(t);
  await end(tables, 'killed');
  const mark = join(tables.dir, 'use.json');
  const use: Record<string, unknown> = JSON.parse(readFileSync(mark, 'utf8'));
  writeFileSync(mark, JSON.stringify({ ...use, boot: 'another one' }));
  t.equal(await folded(tables.dir), undefined);
});

/**
 * Resolves when the process has committed something that `copy` lacks. A commit writes a meta page at its end, and then
 * records itself in the lock file, so that only the second change of the meta pages shows a complete commit.
 */
async function writtenSince({ dir }: Running, copy: string): Promise<void> {
  const path = join(dir, 'tables.mdb');
  let before = metaPagesOf(join(copy, 'tables.mdb'));
  for (let changes = 0; changes < 2; changes += 1) {
    while (metaPagesOf(path).equals(before)) await turn();
    before = metaPagesOf(path);
  }
}

function metaPagesOf(path: string): Buffer {
  return readFileSync(path).subarray(0, 2 * 4096);
}

/** Over the files that are there, as a backup is restored: they keep their numbers and their births. */
function restored(from: string, dir: string, files: readonly string[]): void {
  for (const file of files) {
    const { ino } = statSync(join(dir, file));
    copyFileSync(join(from, file), join(dir, file));
    if (statSync(join(dir, file)).ino !== ino) throw new Error(`${file} is another file now`);
  }
}

test('a copy that was made while the tables were written is not trusted in their place', async (t) => {
  for (const files of [['tables.mdb'], ['tables.mdb', 'use.json'], ['use.json', 'tables.mdb', 'tables.mdb-lock']]) {
    const tables = await running(t);
    const copy = join(tables.folder, 'copy');
    mkdirSync(copy);
    copyFileSync(join(tables.dir, 'tables.mdb'), join(copy, 'tables.mdb'));
    await writtenSince(tables, copy);
    for (const file of ['tables.mdb-lock', 'use.json']) copyFileSync(join(tables.dir, file), join(copy, file));
    await end(tables, 'killed');
    restored(copy, tables.dir, files);
    t.equal(await folded(tables.dir), undefined, files.join(', '));
  }
});

test('an earlier copy of the tables is not trusted in their place, restored in whole or in part', async (t) => {
  const tables = await running(t);
  await end(tables, 'killed');
  const copy = copied(tables, 'copy');
  const again = await opened(t, tables);
  await writtenSince(again, copy);
  await end(again, 'killed');
  restored(copy, tables.dir, ['tables.mdb', 'tables.mdb-lock', 'use.json']);
  t.equal(await folded(tables.dir), undefined);
});
