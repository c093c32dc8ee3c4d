import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'tap';

import { kubectlProgram, noKubectl } from '../support/server/kubectl.ts';

test('kubectl is of the release that the tests expect', { skip: noKubectl }, async (t) => {
  const { stdout } = await promisify(execFile)(kubectlProgram ?? '', ['version', '--client', '-o', 'json']);
  const { clientVersion } = JSON.parse(stdout) as {
    readonly clientVersion: { readonly major: string; readonly minor: string };
  };
  t.match(clientVersion, { major: '1', minor: '35' });
});
