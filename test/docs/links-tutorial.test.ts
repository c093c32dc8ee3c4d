import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import t, { test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { blocksIn, follow, sitsDown } from './tutorial-reader.ts';

t.setTimeout(290_000);

const ledgerplanePath = /"ledgerplane": "file:[^"]*"/u;

async function textOf(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).replace(ledgerplanePath, '');
}

/** The files of a plugin that people write, by path. The path of ledgerplane differs from folder to folder. */
async function sourcesIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist)\/|\.tgz$|^(?:headers\.txt|links\.json)$/u.test(path));
  return Object.fromEntries(
    await Promise.all(paths.sort().map(async (path) => [path, await textOf(join(folder, path))] as const)),
  );
}

test('the tutorial builds plugins/links, and upgrades it twice', async (t) => {
  const reader = await sitsDown(t, 'links');
  for (const page of ['docs/tutorial.md', 'docs/tutorial-versions.md'])
    for (const block of await blocksIn(page)) await follow(t, reader, block);
  t.strictSame(
    await sourcesIn(join(reader.folder, 'links')),
    await sourcesIn(join(repository, 'plugins', 'links')),
    'the result is plugins/links: after a change of the templates or the pages, change it too',
  );
});
