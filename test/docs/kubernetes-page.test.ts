import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test, type Test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { kubectlProgram, noKubectl } from '../support/server/kubectl.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { blocksOf, stepsOf, type Block, type Step } from './markdown-blocks.ts';
import { Shell } from './shell.ts';
import { showsAll, showsSoFar } from './shown-output.ts';

const path = 'docs/kubernetes.md';
const commandLanguages = new Set(['sh', 'console']);

/** As the page's reader has it: a server with TLS, its folder, and there the files that the page says to write. */
async function openPage(t: Test, blocks: readonly Block[]): Promise<Shell> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-docs-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  await symlink(join(repository, 'test', 'tools', 'node_modules'), join(folder, 'node_modules'));
  for (const { text } of blocks.filter(({ language }) => language === 'js')) {
    const file = /^\/\/ \.\/(\S+)\n/u.exec(text);
    t.ok(file, 'a block of JavaScript names its file');
    await writeFile(join(folder, file?.[1] ?? ''), text);
  }
  const env = { PORT: '0', DATA_DIR: 'data', LOG_LEVEL: 'error', TLS: 'auto' };
  const server = runCommandLine(['serve'], { cwd: folder, env });
  t.teardown(async () => {
    server.child.kill('SIGTERM');
    await server.exited();
  });
  const { port } = new URL(/ on (\S+) /u.exec(await server.ready())?.[1] ?? '');
  const shell = new Shell(folder);
  t.teardown(async () => shell.close());
  const program = resolve(import.meta.dirname, '../../src/main.js');
  await shell.run(
    [
      `npx() { shift; '${process.execPath}' '${program}' "$@"; }`,
      `kubectl() { '${kubectlProgram ?? ''}' --cache-dir '${join(folder, 'cache')}' "$@"; }`,
      `export PORT=${port} HOME=${folder}`,
    ].join('; '),
  );
  return shell;
}

async function follow(t: Test, shell: Shell, { command, shown, line }: Step): Promise<void> {
  const where = `${path}:${line.toString()}`;
  if (command.startsWith('node ') && shown !== undefined) {
    t.ok(showsSoFar(shown, await shell.runUntil(command, (so) => showsSoFar(shown, so))), where);
    return;
  }
  const { printed, status } = await shell.run(command);
  t.equal(status, 0, `${where} succeeds`, { printed });
  if (shown !== undefined) t.ok(showsAll(shown, printed), `${where} shows its real output`, { shown, printed });
}

async function followAll(t: Test, isFollowed: (block: Block) => boolean): Promise<void> {
  const blocks = blocksOf(path, await readFile(join(repository, path), 'utf8'));
  const shell = await openPage(t, blocks);
  const run = blocks.filter((block) => commandLanguages.has(block.language) && !/\bnpm start\b/u.test(block.text));
  for (const block of run.filter(isFollowed)) for (const step of stepsOf(block)) await follow(t, shell, step);
}

test('the steps of docs/kubernetes.md without kubectl work', async (t) => {
  await followAll(t, ({ text }) => !/^(\$ )?kubectl /mu.test(text));
});

test('all steps of docs/kubernetes.md work', { skip: noKubectl, timeout: 120_000 }, async (t) => {
  await followAll(t, () => true);
});
