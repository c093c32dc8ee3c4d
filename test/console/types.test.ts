import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

test('the components of the console have no type errors', async (t) => {
  const checker = join(repository, 'node_modules', 'vue-tsc', 'bin', 'vue-tsc.js');
  const checked = promisify(execFile)(process.execPath, [checker, '--noEmit', '-p', 'console'], { cwd: repository });
  const { stdout } = await checked.catch((error: unknown) => error as { readonly stdout: string });
  t.equal(stdout, '');
});
