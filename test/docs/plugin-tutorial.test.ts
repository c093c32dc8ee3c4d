import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { test, type Test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { linkDependencies } from '../support/server/plugin-workshop.ts';
import { blocksOf, stepsOf, type Block, type Step } from './markdown-blocks.ts';
import { Shell } from './shell.ts';
import { showsAll } from './shown-output.ts';

const portDefault = '8090';

/** A reader at a terminal that writes the page's files in its order, and starts servers in other terminals. */
type Reader = { readonly folder: string; readonly shell: Shell; readonly urls: Map<string, string> };

async function sitsDown(t: Test): Promise<Reader> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-tutorial-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  const shell = new Shell(folder);
  t.teardown(async () => shell.close());
  // As npx finds it in a clone; and npm without a network, its `install` being done once the folder is there.
  await shell.run(`npx() { shift; '${process.execPath}' '${resolve(import.meta.dirname, '../../src/main.js')}' "$@"; }
    npm() { if [ "$1" = install ]; then return 0; fi; HOME='${folder}' npm_config_offline=true command npm "$@"; }`);
  return { folder, shell, urls: new Map() };
}

/** A block that begins with a comment with a path is a file to write. */
function fileOf({ language, text }: Block): { readonly path: string; readonly text: string } | undefined {
  const found = language === 'ts' ? /^\/\/ (\S+\/\S+)\n([^]*)$/u.exec(text) : null;
  return found === null ? undefined : { path: found[1] ?? '', text: `${found[2] ?? ''}\n` };
}

/** `[VARIABLE=value …] npx ledgerplane serve`: on a free port, in the folder the reader began in. */
async function startServer(t: Test, { folder, urls }: Reader, command: string): Promise<void> {
  const settings = Object.fromEntries(
    [...command.matchAll(/([A-Z_]+)=(\S+)/gu)].map(([, name = '', value = '']) => [name, value]),
  );
  const server = runCommandLine(['serve'], { cwd: folder, env: { LOG_LEVEL: 'error', ...settings, PORT: '0' } });
  t.teardown(async () => {
    server.child.kill('SIGTERM');
    await server.exited();
  });
  urls.set(`http://127.0.0.1:${settings['PORT'] ?? portDefault}`, / on (\S+) /u.exec(await server.ready())?.[1] ?? '');
}

/** In this page each line is a command, so that a failure names its command. */
function linesOf(block: Block): readonly Step[] {
  if (block.language === 'console') return stepsOf(block);
  return block.text.split('\n').map((command, index) => ({ line: block.line + 1 + index, command, shown: undefined }));
}

async function follow(t: Test, reader: Reader, block: Block): Promise<void> {
  const file = fileOf(block);
  if (file !== undefined) {
    await mkdir(dirname(join(reader.folder, file.path)), { recursive: true });
    await writeFile(join(reader.folder, file.path), file.text);
    return;
  }
  if (/\bnpx ledgerplane serve\b/u.test(block.text)) {
    await startServer(t, reader, block.text);
    return;
  }
  if (/^npm install$/mu.test(block.text)) await linkDependencies(join(reader.folder, 'notes'));
  for (const { line, command, shown } of linesOf(block)) {
    const real = (text: string): string =>
      [...reader.urls].reduce((so, [documented, url]) => so.replaceAll(documented, url), text);
    const { printed, status } = await reader.shell.run(real(command));
    t.equal(status, 0, `docs/plugins.md:${String(line)} succeeds`, { command, printed });
    if (shown !== undefined)
      t.ok(showsAll(shown, printed), `docs/plugins.md:${String(line)} shows its real output`, { shown, printed });
  }
}

test('the way from nothing to a package, as docs/plugins.md goes it', async (t) => {
  const markdown = await readFile(join(repository, 'docs', 'plugins.md'), 'utf8');
  const blocks = blocksOf('docs/plugins.md', markdown.slice(0, markdown.indexOf('\n## The smallest plugin\n'))).filter(
    ({ language }) => ['sh', 'console', 'ts'].includes(language),
  );
  t.ok(blocks.length > 4, 'there is something to follow');
  const reader = await sitsDown(t);
  for (const block of blocks) await follow(t, reader, block);
});
