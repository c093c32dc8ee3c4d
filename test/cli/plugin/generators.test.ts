import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { temporaryFolder } from '../../plugin/host/host-stage.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { linkDependencies, run } from '../../support/server/plugin-workshop.ts';

type Asked = { readonly code: unknown; readonly notes: string };

async function plugin(folder: string, ...args: readonly string[]): Promise<Asked> {
  const command = runCommandLine(['plugin', ...args], { cwd: folder });
  const code = await command.exited();
  return { code, notes: command.stderr() };
}

/** A new plugin with the type Link. */
async function withLink(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  t.match(await plugin(folder, 'new', 'my-links', '--type', 'Link', '--plural', 'links'), { code: 0 });
  return join(folder, 'my-links');
}

/** The paths and texts of a plugin's files. */
async function contents(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(paths.sort().map(async (path) => [path, await readFile(path, 'utf8')])));
}

test('a plugin with a given type, and every part that is added to it, compiles and passes its tests', async (t) => {
  const folder = await withLink(t);
  const adds = [
    ['type', 'BlogPost', '--plural', 'blog-posts'],
    ['type', 'Class', '--group', 'school.example.com', '--api-version', 'v1', '--plural', 'classes'],
    ['route', 'label', '--type', 'Link'],
    ['reconciler', 'observe', '--type', 'Link'],
    ['role', 'list', '--type', 'BlogPost', '--verbs', 'list,delete'],
  ];
  for (const add of adds) t.match(await plugin(folder, 'add', ...add), { code: 0 }, add.join(' '));
  for (const [path, text] of Object.entries(await contents(folder)))
    t.notMatch(text, /\{\{\w+\}\}/u, `${path} has no placeholder left`);
  t.equal(
    (await readFile(join(folder, 'src', 'main.ts'), 'utf8')).split('\n').at(-2),
    'export default definePlugin({ reconcilers: [linkObserve], controllers: [linkLabel], ' +
      'types: [link, blogPost, classType] });',
  );
  await linkDependencies(folder);
  const tested = await run(folder, 'npm', ['test']);
  t.equal(tested.code, 0, tested.printed);
  t.match(tested.printed, /pass 13\b/u, 'three of each type, two of the route, one each of reconciler and role');
});

test('a part whose file exists is refused, and no file is changed', async (t) => {
  const folder = await withLink(t);
  t.match(await plugin(folder, 'add', 'route', 'label', '--type', 'Link'), { code: 0 });
  const before = await contents(folder);
  for (const add of [
    ['type', 'Link'],
    ['route', 'label', '--type', 'Link'],
    ['reconciler', 'label', '--type', 'Link'],
  ])
    t.match(await plugin(folder, 'add', ...add), {
      code: 2,
      notes: /nothing was changed, because files of the part already exist: \S/u,
    });
  t.same(await contents(folder), before);
});

test('a main module of another form stays unchanged, and the command names the edit', async (t) => {
  const folder = await withLink(t);
  const main = "import definition from './definition.ts';\n\nexport default definition;\n";
  await writeFile(join(folder, 'src', 'main.ts'), main);
  t.match(await plugin(folder, 'add', 'reconciler', 'observe', '--type', 'Link'), {
    code: 1,
    notes:
      /src\/main\.ts: add import \{ linkObserve \} from '\.\/link-observe\.ts'; and add linkObserve to reconcilers/u,
  });
  t.equal(await readFile(join(folder, 'src', 'main.ts'), 'utf8'), main);
  t.match(await readFile(join(folder, 'src', 'link-observe.ts'), 'utf8'), /observedGeneration/u);
});

test('names and folders that a part cannot have are refused', async (t) => {
  const folder = await withLink(t);
  const before = await contents(folder);
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['type', 'link'], /a kind must be letters and digits/u],
    [['type', 'Tag', '--plural', '../tags'], /a plural must have at most 63/u],
    [['type', 'Tag', '--group', 'tags'], /a group must be a DNS subdomain/u],
    [['type', 'Tag', '--api-version', '1'], /a version must be like/u],
    [['route', 'a/b', '--type', 'Link'], /the name must have at most 63/u],
    [['role', 'all', '--type', 'Link', '--verbs', 'read'], /"read" is not a verb/u],
    [['route', 'label'], /--type/u],
  ];
  for (const [add, why] of refused) t.match(await plugin(folder, 'add', ...add), { code: 2, notes: why });
  t.match(await plugin(folder, 'add', 'route', 'label', '--type', 'Tag'), {
    code: 1,
    notes: /src\/tag\.ts does not exist/u,
  });
  t.same(await contents(folder), before);
  await mkdir(join(folder, 'inner'));
  t.match(await plugin(join(folder, 'inner'), 'add', 'type', 'Tag'), { code: 2, notes: /has no plugin\.yaml/u });
  await rm(join(folder, 'tsconfig.json'));
  t.match(await plugin(folder, 'add', 'type', 'Tag'), { code: 2, notes: /only plugins in TypeScript/u });
});
