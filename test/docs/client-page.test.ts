import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { runCommand } from '../support/server/command-run.ts';
import { startTestServer, testPassword } from '../support/server/start-server.ts';
import { blocksOf } from './markdown-blocks.ts';

test('the snippets of docs/client.md run as one program and print what they say', async (t) => {
  const server = await startTestServer({ environment: { TLS: 'auto' } });
  t.teardown(async () => server.remove());
  const ca = join(server.dataDir, 'tls', 'ca.crt');
  const { port } = new URL(server.url);
  const variables = { TLS: 'auto', DATA_DIR: server.dataDir, PORT: port, LEDGERPLANE_PASSWORD: testPassword };
  const { out } = await runCommand(['kubeconfig'], { variables });
  const { token } = (JSON.parse(out) as Kubeconfig).users[0].user;
  const page = await readFile(join(repository, 'docs', 'client.md'), 'utf8');
  const blocks = blocksOf('docs/client.md', page).filter(({ language }) => language === 'js');
  t.ok(blocks.length > 8);
  const lines = blocks.flatMap(({ text }) => text.split('\n'));
  const program = [...lines.filter(isImport), ...lines.filter((line) => !isImport(line)), 'informer.stop();'].join(
    '\n',
  );
  // Within the repository, so that the package finds itself by its name.
  const folder = t.testdir({ 'page.mjs': program, config: out });
  const run = promisify(execFile)(process.execPath, [join(folder, 'page.mjs')], {
    env: {
      PATH: process.env['PATH'],
      SERVER: server.url,
      TOKEN: token,
      CONFIG: join(folder, 'config'),
      NODE_EXTRA_CA_CERTS: ca,
    },
  });
  const { stdout, stderr } = await run;
  t.equal(stderr, '');
  const expected = [...program.matchAll(/\/\/ prints: (.*)$/gmu)].map(([, shown]) => shown);
  t.strictSame(stdout.trimEnd().split('\n').sort(), expected.sort());
});

type Kubeconfig = { readonly users: readonly [{ readonly user: { readonly token: string } }] };

function isImport(line: string): boolean {
  return line.startsWith('import ');
}
