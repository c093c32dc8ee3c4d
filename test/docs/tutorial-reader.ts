import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import type { Test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { linkDependencies } from '../support/server/plugin-workshop.ts';
import { blocksOf, stepsOf, type Block, type Step } from './markdown-blocks.ts';
import { Shell } from './shell.ts';
import { showsAll, showsSoFar } from './shown-output.ts';

const portDefault = '8090';

/** A reader at a terminal that writes the page's files in its order, and starts servers in other terminals. */
export type Reader = {
  readonly folder: string;
  /** The folder of the plugin that the page generates, in `folder`. */
  readonly plugin: string;
  readonly shell: Shell;
  readonly urls: Map<string, string>;
};

export async function sitsDown(t: Test, plugin: string): Promise<Reader> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-tutorial-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  const shell = new Shell(folder);
  t.teardown(async () => shell.close());
  // As npx finds it in a clone; and npm without a network, its `install` being done once the folder is there.
  await shell.run(`npx() { shift; '${process.execPath}' '${resolve(import.meta.dirname, '../../src/main.js')}' "$@"; }
    npm() { if [ "$1" = install ]; then return 0; fi; HOME='${folder}' npm_config_offline=true command npm "$@"; }`);
  return { folder, plugin, shell, urls: new Map() };
}

/** The blocks of a page, or of the page up to this text. */
export async function blocksIn(path: string, end?: string): Promise<readonly Block[]> {
  const markdown = await readFile(join(repository, path), 'utf8');
  const blocks = blocksOf(path, end === undefined ? markdown : markdown.slice(0, markdown.indexOf(end)));
  if (blocks.length < 5) throw new Error(`${path} has nothing to follow`);
  return blocks;
}

/** A block that begins with a comment with a path is a file to write. */
export function fileOf({ language, text }: Block): { readonly path: string; readonly text: string } | undefined {
  const path = /^(?:\/\/|#|<!--) (\S+\/\S+)(?: -->)?\n([^]*)$/u;
  const found = ['ts', 'yaml', 'vue', 'json'].includes(language) ? path.exec(text) : null;
  return found === null ? undefined : { path: found[1] ?? '', text: `${found[2] ?? ''}\n` };
}

/** `[VARIABLE=value …] npx ledgerplane serve`: on a free port, in the folder the reader began in. */
async function startServer(t: Test, { folder, urls, shell }: Reader, command: string): Promise<void> {
  const settings = Object.fromEntries(
    [...command.matchAll(/([A-Z_]+)=(\S+)/gu)].map(([, name = '', value = '']) => [name, value]),
  );
  const server = runCommandLine(['serve'], { cwd: folder, env: { LOG_LEVEL: 'error', ...settings, PORT: '0' } });
  t.teardown(async () => {
    server.child.kill('SIGTERM');
    await server.exited();
  });
  const documented = `http://127.0.0.1:${settings['PORT'] ?? portDefault}`;
  const url = / on (\S+) /u.exec(await server.ready())?.[1] ?? '';
  urls.set(documented, url);
  // Without a setting, the commands call the default port.
  if (documented.endsWith(portDefault)) await shell.run(`export LEDGERPLANE_SERVER=${url}`);
}

/** Each line is a command, so that a failure names its command; a block with a document is one command. */
function linesOf(block: Block): readonly Step[] {
  if (block.language === 'console' || block.text.includes('<<')) return stepsOf(block);
  return block.text.split('\n').map((command, index) => ({ line: block.line + 1 + index, command, shown: undefined }));
}

export async function follow(t: Test, reader: Reader, block: Block): Promise<void> {
  const file = fileOf(block);
  if (file !== undefined) {
    await mkdir(dirname(join(reader.folder, file.path)), { recursive: true });
    await writeFile(join(reader.folder, file.path), file.text);
    return;
  }
  if (!['sh', 'console'].includes(block.language)) return;
  if (/\bnpx ledgerplane serve\b/u.test(block.text)) {
    await startServer(t, reader, block.text);
    return;
  }
  for (const step of linesOf(block)) {
    if (step.command === 'npm install') await linkDependencies(join(reader.folder, reader.plugin));
    await runStep(t, reader, { path: block.path, step });
  }
}

async function runStep(
  t: Test,
  { shell, urls }: Reader,
  { path, step: { line, command, shown } }: { readonly path: string; readonly step: Step },
): Promise<void> {
  const where = `${path}:${String(line)}`;
  const real = [...urls].reduce((so, [documented, url]) => so.replaceAll(documented, url), command);
  if (shown !== undefined && command.includes('text/event-stream')) {
    const printed = await shell.runUntil(real, (so) => showsSoFar(shown, so));
    t.ok(showsSoFar(shown, printed), `${where} shows ${shown.slice(0, 80)}`);
    return;
  }
  const { printed, status } = await shell.run(real);
  t.equal(status, 0, `${where} succeeds`, { command, printed });
  if (shown !== undefined) t.ok(showsAll(shown, printed), `${where} shows its real output`, { shown, printed });
}
