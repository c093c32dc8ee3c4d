import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { bareTexts, messageKeys, readMessages, usedKeys } from './console.ts';
import { repository } from './repository.ts';
import { sourceFiles, textOf } from './source-files.ts';

const folders = readdirSync(join(repository, 'plugins'))
  .map((plugin) => `plugins/${plugin}/console`)
  .filter((folder) => existsSync(join(repository, folder, 'index.ts')));

/** The keys of a front end's messages in a language, with their placeholders. */
function catalogue(folder: string, language: string): ReadonlyMap<string, string> {
  const messages = readMessages(repository, `${folder}/messages/${language}.json`);
  return new Map([...messageKeys(messages, '')].map(([key, names]) => [key.replace(/^\./u, ''), names]));
}

function sourcesOf(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return sourceFiles(join(repository, folder), /\.(?:vue|ts)$/u).map((path) => ({
    path: `${folder}/${path}`,
    text: textOf(repository, `${folder}/${path}`),
  }));
}

test('the front ends of plugins have the same messages in both languages', async (t) => {
  t.ok(folders.length > 0);
  for (const folder of folders)
    t.strictSame([...catalogue(folder, 'zh').keys()].sort(), [...catalogue(folder, 'en').keys()].sort(), folder);
});

test('every message that a front end names exists, and no template has a text of its own', async (t) => {
  for (const folder of folders) {
    const known = catalogue(folder, 'en');
    for (const source of sourcesOf(folder)) {
      t.strictSame(
        usedKeys(source).filter((key) => !known.has(key)),
        [],
        source.path,
      );
      if (source.path.endsWith('.vue')) t.strictSame(bareTexts(source), [], source.path);
    }
  }
});
