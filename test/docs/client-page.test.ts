import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { compileErrors } from '../support/compiled.ts';
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

test('the types that docs/client.md writes are those that its program takes', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const page = await readFile(join(repository, 'docs', 'client.md'), 'utf8');
  const blocks = blocksOf('docs/client.md', page);
  const [command, ...others] = blocks.filter(({ language }) => language === 'sh');
  t.equal(others.length, 0);
  const args = (command?.text ?? '').trim().split(' ').slice(2);
  const folder = t.testdir({});
  const variables = { LEDGERPLANE_SERVER: server.url, DATA_DIR: server.dataDir, LEDGERPLANE_PASSWORD: testPassword };
  const { code, err } = await runCommand([...args, '--user', 'admin'], { variables, folder });
  t.strictSame([code, err], [0, `wrote 1 type to ${join(folder, 'widgets.ts')}\n`]);
  const program = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  t.equal(program.length, 1);
  const files = {
    'widgets.ts': await readFile(join(folder, 'widgets.ts'), 'utf8'),
    'program.ts': `declare const console: { log(...values: readonly unknown[]): void };\n${program.join('')}`,
  };
  t.strictSame(compileErrors(files, { allowImportingTsExtensions: true }), []);
});

type Kubeconfig = { readonly users: readonly [{ readonly user: { readonly token: string } }] };

function isImport(line: string): boolean {
  return line.startsWith('import ');
}
