import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

async function typeErrorsIn(project: string): Promise<string> {
  const checker = join(repository, 'node_modules', 'vue-tsc', 'bin', 'vue-tsc.js');
  const checked = promisify(execFile)(process.execPath, [checker, '--noEmit', '-p', project], { cwd: repository });
  const { stdout } = await checked.catch((error: unknown) => error as { readonly stdout: string });
  return stdout;
}

test('the components of the console have no type errors', async (t) => {
  t.equal(await typeErrorsIn('console'), '');
});

test('the front ends of plugins have no type errors', async (t) => {
  const folders = readdirSync(join(repository, 'plugins')).map((plugin) => join('plugins', plugin, 'console'));
  for (const folder of folders.filter((each) => existsSync(join(repository, each, 'tsconfig.json'))))
    t.equal(await typeErrorsIn(folder), '', folder);
});
