import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { readPlainFile } from '../../src/plugin/folders/plain-file.ts';
import { temporaryFolder } from './host/host-stage.ts';

test('only a regular file within the limit is read, and each other entry has its own reason', async (t) => {
  const folder = await temporaryFolder(t);
  const at = (name: string): string => join(folder, name);
  await writeFile(at('file'), 'four');
  await symlink('file', at('link'));
  await mkdir(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
  t.strictSame(await readPlainFile(at('file'), 4), Buffer.from('four'));
  t.equal(await readPlainFile(at('file'), 3), 'too-large');
  t.equal(await readPlainFile(at('folder'), 4), 'irregular');
  t.equal(await readPlainFile(at('pipe'), 4), 'irregular');
  await t.rejects(readPlainFile(at('link'), 4), { code: 'ELOOP' });
  await t.rejects(readPlainFile(at('none'), 4), { code: 'ENOENT' });
});
