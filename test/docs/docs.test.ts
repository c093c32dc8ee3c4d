import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { test, type Test } from 'tap';

import { decodeConfig } from '../../src/config/config.ts';
import { streamEndings } from '../../src/http/plugin-routes/plugin-streams.ts';
import * as routeLimits from '../../src/http/plugin-routes/route-limits.ts';
import * as accessLimits from '../../src/limits/access.ts';
import * as auditLimits from '../../src/limits/audit.ts';
import * as listsLimits from '../../src/limits/lists.ts';
import * as logLimits from '../../src/limits/log.ts';
import * as objectsLimits from '../../src/limits/objects.ts';
import * as pluginsLimits from '../../src/limits/plugins.ts';
import * as reconcilersLimits from '../../src/limits/reconcilers.ts';
import * as requestsLimits from '../../src/limits/requests.ts';
import * as settingsLimits from '../../src/limits/settings.ts';
import * as watchesLimits from '../../src/limits/watches.ts';
import * as writesLimits from '../../src/limits/writes.ts';
import { repository } from '../architecture/repository.ts';
import { sourceFiles } from '../architecture/source-files.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { blocksOf, stepsOf, tableUnder, type Block, type Step } from './markdown-blocks.ts';
import { Shell } from './shell.ts';
import { showsAll, showsSoFar } from './shown-output.ts';

const documentedUrl = 'http://127.0.0.1:8090';
const commandLanguages = new Set(['sh', 'bash', 'console']);
const checkedLanguages = new Set([...commandLanguages, 'json', 'js', 'yaml']);

const readPage = async (path: string): Promise<string> => readFile(join(repository, path), 'utf8');

type Page = { readonly folder: string; readonly url: string; readonly shell: Shell };

/**
 * A server as the page's reader has it: in a folder of its own with the files the page says to write, on a free port.
 */
async function openPage(t: Test, blocks: readonly Block[]): Promise<Page> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-docs-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  const files = blocks.flatMap((block) => fileOf(block) ?? []);
  for (const { path, text } of files) {
    await mkdir(dirname(join(folder, 'my-plugins', path)), { recursive: true });
    await writeFile(join(folder, 'my-plugins', path), text);
  }
  const server = runCommandLine(['serve'], {
    cwd: folder,
    env: {
      PORT: '0',
      DATA_DIR: 'data',
      BACKUP_DIR: 'backups',
      LOG_LEVEL: 'error',
      ...(files.length === 0 ? {} : { PLUGINS_DIRS: './my-plugins' }),
    },
  });
  t.teardown(async () => {
    server.child.kill('SIGTERM');
    await server.exited();
  });
  const url = / on (\S+) /u.exec(await server.ready())?.[1] ?? '';
  const shell = new Shell(folder);
  t.teardown(async () => shell.close());
  // As npx finds it in a clone: the program as it was built.
  await shell.run(
    `npx() { shift; '${process.execPath}' '${resolve(import.meta.dirname, '../../src/main.js')}' "$@"; }; export ` +
      `LEDGERPLANE_SERVER=${url}`,
  );
  return { folder, url, shell };
}

/** A block that begins with a comment with a path is a file that the page asks its reader to write. */
function fileOf({ language, text }: Block): { readonly path: string; readonly text: string } | undefined {
  const found = /^(?:#|\/\/) (\S+\/\S+)\n([^]*)$/u.exec(text);
  if (found === null || (language !== 'js' && language !== 'yaml')) return undefined;
  return { path: found[1] ?? '', text: `${found[2] ?? ''}\n` };
}

/** Why a block is not run; undefined when it is. */
function notRun(block: Block): string | undefined {
  if (block.language === 'json') return 'JSON: parsed';
  if (block.language === 'js' || block.language === 'yaml')
    return fileOf(block) === undefined ? 'a part of a file: it does not say of which' : undefined;
  return /^\s*(?:npm|npx(?! ledgerplane )) /mu.test(block.text)
    ? 'npm: its scripts are looked up, as they would start servers and tests of their own'
    : undefined;
}

async function follow(
  t: Test,
  { shell, url }: Page,
  { path, step }: { readonly path: string; readonly step: Step },
): Promise<void> {
  const where = `${path}:${step.line.toString()}`;
  const command = step.command.replaceAll(documentedUrl, url);
  const shown = step.shown?.replaceAll(documentedUrl, url);
  if (isEndless(command) && shown !== undefined) {
    const printed = await shell.runUntil(command, (so) => showsSoFar(shown, so));
    t.ok(showsSoFar(shown, printed), `${where} shows ${shown.slice(0, 80)}`);
    return;
  }
  const { printed, status } = await shell.run(command);
  t.equal(status, 0, `${where} succeeds`, { printed });
  if (shown !== undefined) t.ok(showsAll(shown, printed), `${where} shows its real output`, { shown, printed });
}

function isEndless(command: string): boolean {
  return /watch=true|text\/event-stream/u.test(command) && !command.includes('timeoutSeconds');
}

for (const path of [
  'README.md',
  'docs/api.md',
  'docs/access-control.md',
  'docs/plugins.md',
  'docs/custom-apis.md',
  'docs/reconcilers.md',
  'docs/operating.md',
  'docs/audit.md',
  'docs/audit-proof.md',
]) {
  test(`the steps of ${path} work`, async (t) => {
    const markdown = followable(path, await readPage(path));
    const blocks = blocksOf(path, markdown).filter(({ language }) => checkedLanguages.has(language));
    t.ok(blocks.length > 0, 'there is something to run');
    const page = await openPage(t, blocks);
    for (const block of blocks) {
      const reason = notRun(block);
      if (reason !== undefined) t.comment(`not run: ${path}:${block.line.toString()} (${reason})`);
      if (block.language === 'json')
        t.doesNotThrow(() => {
          JSON.parse(block.text);
        }, `${path}:${block.line.toString()} is JSON`);
      if (reason !== undefined || !commandLanguages.has(block.language)) continue;
      for (const step of stepsOf(block)) await follow(t, page, { path, step });
    }
    await getAll(t, page, blocksOf(path, markdown));
  });
}

/**
 * The first half of docs/plugins.md is followed by a test of its own, as it is about a folder that grows. Lines keep
 * their numbers.
 */
function followable(path: string, markdown: string): string {
  if (path !== 'docs/plugins.md') return markdown;
  const start = markdown.indexOf('\n## The smallest plugin\n');
  return markdown.slice(0, start).replaceAll(/[^\n]/gu, '') + markdown.slice(start);
}

/** Blocks without a language may hold `GET <path>` lines, which the super administrator can all read. */
async function getAll(t: Test, { folder, url }: Page, blocks: readonly Block[]): Promise<void> {
  const password = (await readFile(join(folder, 'data', 'admin-password'), 'utf8')).trim();
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  for (const { path, line, text } of blocks.filter(({ language }) => language === '')) {
    for (const [, target = ''] of text.matchAll(/^GET (\/\S+)$/gmu)) {
      const answer = await fetch(url + target, { headers: { authorization } });
      t.equal(answer.status, 200, `${path}:${line.toString()}: GET ${target}`);
      await answer.body?.cancel();
    }
  }
}

test('every npm script that a page names is there', async (t) => {
  const { scripts } = JSON.parse(await readPage('package.json')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const path of sourceFiles(repository, /\.md$/u)) {
    const markdown = await readPage(path);
    for (const [command, run, short] of markdown.matchAll(/\bnpm (?:run ([a-z][a-z:-]*)|(start|test)\b)/gu)) {
      t.hasOwnProp(scripts, run ?? short ?? '', `${path}: ${command}`);
    }
  }
});

test('README.md lists the settings that are read, with their defaults', async (t) => {
  const rows = tableUnder('## Settings', await readPage('README.md')).map(
    ([name = '', byDefault = '']) => [name.replaceAll('`', ''), byDefault.replaceAll('`', '')] as const,
  );
  const help = runCommandLine(['help'], { cwd: tmpdir() });
  await help.exited();
  const read = [...help.stdout().matchAll(/^ {2}([A-Z][A-Z_]+) /gmu)].map(([, name]) => name ?? '');
  t.same(rows.map(([name]) => name).sort(), read.sort());
  const defaults = Object.fromEntries(rows.filter(([, value]) => value !== '' && value !== 'random'));
  t.same(decodeConfig(defaults, '/anywhere'), decodeConfig({}, '/anywhere'), 'a default written out changes nothing');
});

const limits = {
  ...accessLimits,
  ...auditLimits,
  ...listsLimits,
  ...logLimits,
  ...objectsLimits,
  ...pluginsLimits,
  ...reconcilersLimits,
  ...requestsLimits,
  ...settingsLimits,
  ...watchesLimits,
  ...writesLimits,
};

/** The rows of docs/api.md's table of limits, by the constant that holds each. */
const documentedLimits: Readonly<Record<string, keyof typeof limits>> = {
  'requests that wait for a change of permissions': 'permissionWaitsPerUserMax',
  body: 'requestBodyBytesMax',
  'body of YAML': 'yamlBodyBytesMax',
  'body of protobuf': 'protobufBodyBytesMax',
  'stored object': 'objectBytesMax',
  'nesting of a body': 'jsonDepthMax',
  headers: 'requestHeadersBytesMax',
  'path and query': 'requestTargetBytesMax',
  'query parameters': 'queryParametersMax',
  'one selector': 'selectorBytesMax',
  'requirements of all selectors': 'selectorRequirementsMax',
  'values of one set': 'selectorSetValuesMax',
  'sort fields': 'sortKeysMax',
  name: 'nameLengthMax',
  labels: 'labelsPerObjectMax',
  annotations: 'annotationsBytesMax',
  finalizers: 'finalizersPerObjectMax',
  'owner references': 'ownerReferencesPerObjectMax',
  'one index value': 'indexValueBytesMax',
  'values in one index': 'indexValuesPerObjectMax',
  'operations of a JSON Patch': 'jsonPatchOperationsMax',
  'validation errors in a response': 'validationErrorsMax',
  watches: 'watchersMax',
  exports: 'exportsPerUserMax',
  'bytes a watcher is behind': 'watchBufferedBytesMax',
  'writes being decided': 'writesInFlightMax',
  'bytes of requests and of writes being decided': 'heldBytesMax',
  'long lists and initial watch states being read': 'snapshotsPerUserMax',
  "bytes watches and plugins' streams leave unread, in all; of one user or visitor's address": 'watchBuffersBytesMax',
  'attempts of a write that loses races': 'writeAttemptsMax',
  'failed log-ins of a user from one network: an IPv4 address, an IPv6 /64': 'logInFailuresMax',
  'failed log-ins from one network; of a user from networks without an earlier log-in of theirs':
    'logInFailuresInAllMax',
  'queued log-ins of one network; of known networks, and of unknown ones': 'passwordHashesWaitingPerNetworkMax',
  'a user name and a password at `POST /login`': 'nameLengthMax',
};

test('docs/api.md states the current limits', async (t) => {
  const rows = tableUnder('## Limits', await readPage('docs/api.md'));
  t.same(rows.map(([what]) => what).sort(), Object.keys(documentedLimits).sort());
  for (const [what = '', limit = ''] of rows) {
    const constant = documentedLimits[what];
    t.equal(
      Number.parseInt(limit.replaceAll(',', ''), 10),
      constant === undefined ? undefined : limits[constant],
      what,
    );
  }
});

test('docs/custom-apis.md states the current limits and close codes', async (t) => {
  const page = await readPage('docs/custom-apis.md');
  const bounds = tableUnder('## Limits', page).map(([, bound = '']) => Number(bound.replaceAll(/[^0-9]/gu, '')));
  t.strictSame(bounds, [
    limits.pluginRouteMs / 1_000,
    routeLimits.pluginStreamsPerPluginMax,
    routeLimits.pluginStreamsMax,
    routeLimits.pluginEventBytesMax / 1_048_576,
    routeLimits.pluginStreamUnreadMs / 1_000,
  ]);
  const codes = new Set(tableUnder('## WebSockets', page).map(([code]) => Number(code)));
  t.strictSame(
    Object.entries(streamEndings).filter(([reason, code]) => reason !== 'unresponsive' && !codes.has(code)),
    [],
  );
});

test('ARCHITECTURE.md is short enough to be read', async (t) => {
  t.ok((await readPage('ARCHITECTURE.md')).split('\n').length <= 250);
});

test('each invariant names a test that exists', async (t) => {
  // An item goes on in indented lines.
  const items = (await readPage('docs/spec/invariants.md')).replaceAll(/\n {2,}/gu, ' ').split('\n');
  const invariants = items.filter((line) => line.includes('**Invariant:**'));
  t.ok(invariants.length > 60);
  for (const invariant of invariants) {
    const held = [...invariant.matchAll(/\[(test\/[^\]]+)\]\(\.\.\/\.\.\/\1\)(?:: “([^”]+)”)?/gu)];
    t.ok(held.length > 0, `a test is named: ${invariant.slice(0, 90)}`);
    for (const [, path = '', title] of held) {
      const text = (await readPage(path)).replaceAll("\\'", "'");
      t.ok(title === undefined || text.includes(title), `${path} holds “${title ?? ''}”`);
    }
  }
});

test('each decision has a number of its own, and is in the index', async (t) => {
  const names = (await readdir(join(repository, 'docs', 'decisions'))).filter((name) => name !== 'README.md').sort();
  const index = await readPage('docs/decisions/README.md');
  t.equal(new Set(names.map((name) => name.slice(0, 4))).size, names.length, 'no number is used twice');
  for (const name of names) {
    t.match(name, /^\d{4}-[a-z0-9-]+\.md$/u);
    t.ok(index.includes(`(${name})`), `${name} is in the index`);
    t.match(
      await readPage(`docs/decisions/${name}`),
      /^# \d{4} [^]*\n## Context\n[^]*\n## Choice\n[^]*\n## Chosen against\n[^]*\n## Consequence\n/u,
    );
  }
});

test('0005 names every package and its licence', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(await readPage('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const text = await readPage('docs/decisions/0005-dependencies.md');
  const rows = [...text.matchAll(/^\| `([^`]+)` +\| ([^|]+) \|/gmu)].map(
    ([, name = '', licence = '']) => [name, licence.trim()] as const,
  );
  t.same(rows.map(([name]) => name).sort(), [...Object.keys(dependencies), ...Object.keys(devDependencies)].sort());
  for (const [name, licence] of rows) {
    t.equal(
      (JSON.parse(await readPage(`node_modules/${name}/package.json`)) as { readonly license: string }).license,
      licence,
      name,
    );
  }
});

test('`…` matches anything, blanks outside quotes match nothing, and all other text matches itself', async (t) => {
  t.ok(showsAll('{"a": "…",\n "b": […]}', '{"a":"x y","b":[1,2]}'));
  t.notOk(showsAll('{"a":"x y"}', '{"a":"xy"}'));
  t.notOk(showsAll('{"a":1}', '{"a":1}{"a":2}'));
  t.ok(showsSoFar('{"a":1}', '{"a":1}\n{"a":2}\n'));
  t.notOk(showsSoFar('{"a":1}{"a":2}', '{"a":1}\n{"a"'));
  t.same(stepsOf({ path: '', language: 'console', line: 1, text: '$ one\n1\n$ two \\\n  2\n$ three' }), [
    { line: 2, command: 'one', shown: '1' },
    { line: 4, command: 'two \\\n  2', shown: '' },
    { line: 6, command: 'three', shown: '' },
  ]);
});
