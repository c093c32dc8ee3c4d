import { mkdir, readFile, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { writeDurably } from '../../src/disk/durable-file.ts';

test('a file is replaced as a whole, private from the beginning', async (t) => {
  const dir = t.testdir({ 'a.key': 'old' });
  const path = join(dir, 'a.key');
  await writeFile(`${path}.new`, 'half of a file that a killed process has left', { mode: 0o644 });
  await writeDurably(path, 'new');
  t.equal(await readFile(path, 'utf8'), 'new');
  t.equal((await stat(path)).mode & 0o777, 0o600);
  await writeDurably(path, Buffer.from([0, 255]));
  t.strictSame([...(await readFile(path))], [0, 255]);
  t.strictSame(await readdir(dir), ['a.key']);
});

test('a link in the place of the draft is removed, and its target stays', async (t) => {
  const dir = t.testdir({ other: 'kept' });
  await symlink('other', join(dir, 'a.key.new'));
  await writeDurably(join(dir, 'a.key'), 'new');
  t.equal(await readFile(join(dir, 'other'), 'utf8'), 'kept');
  await t.rejects(readlink(join(dir, 'a.key')), { code: 'EINVAL' });
});

test('a file that cannot get its name leaves no draft', async (t) => {
  const dir = t.testdir({});
  await mkdir(join(dir, 'a.key', 'inner'), { recursive: true });
  await t.rejects(writeDurably(join(dir, 'a.key'), 'new'));
  t.strictSame(await readdir(dir), ['a.key']);
});
