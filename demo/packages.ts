import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { postName } from './post-name.ts';

/** A Post for a package: its README and members of its manifest. */
export type Post = {
  readonly name: string;
  readonly spec: {
    readonly title: string;
    readonly slug: string;
    readonly owner: string;
    readonly tags: readonly string[];
    readonly publish: boolean;
    readonly publishTime: string;
    readonly content: string;
  };
};

/** Longer READMEs are truncated: an object has at most 768 KiB, and some characters take six bytes of JSON. */
const contentLengthMax = 100_000;
/** The publish time of all posts: a package does not contain its own, and a second run must write the same. */
const publishTime = '2026-01-01T00:00:00.000Z';
const tagsMax = 32;
const tagLengthMax = 64;

/** One post for each package under `modules`, by name; of several versions the least nested one. */
export function readPosts(modules: string): readonly Post[] {
  const posts = new Map<string, Post>();
  let folders = packageFolders(modules);
  while (folders.length > 0) {
    for (const folder of folders) {
      const post = readPost(folder);
      if (post !== undefined && !posts.has(post.name)) posts.set(post.name, post);
    }
    folders = folders.flatMap((folder) => packageFolders(join(folder, 'node_modules')));
  }
  return [...posts.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
}

function packageFolders(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((entry) => !entry.startsWith('.'))
    .sort()
    .flatMap((entry) => {
      const folder = join(modules, entry);
      return entry.startsWith('@') ? packageFolders(folder) : [folder];
    });
}

function readPost(folder: string): Post | undefined {
  const readme = statSync(folder).isDirectory()
    ? readdirSync(folder).find((file) => /^readme(?:\.(?:md|markdown|txt))?$/iu.test(file))
    : undefined;
  const manifest = readManifest(join(folder, 'package.json'));
  if (readme === undefined || manifest === undefined) return undefined;
  const path = join(folder, readme);
  const name = postName(manifest.name);
  return {
    name,
    spec: {
      title: `${manifest.name} ${manifest.version}`.slice(0, 200),
      slug: name,
      owner: 'admin',
      tags: manifest.keywords,
      publish: true,
      publishTime,
      content:
        Buffer.from(readFileSync(path, 'utf8').slice(0, contentLengthMax)).toString('utf8').trim() ||
        'This package has no README.',
    },
  };
}

function readManifest(
  path: string,
): { readonly name: string; readonly version: string; readonly keywords: readonly string[] } | undefined {
  if (!existsSync(path)) return undefined;
  const {
    name,
    version = '',
    keywords = [],
  } = JSON.parse(readFileSync(path, 'utf8')) as { name?: unknown; version?: unknown; keywords?: unknown };
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  const words = (Array.isArray(keywords) ? keywords : []).filter((word) => typeof word === 'string');
  const tags = words
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '' && word.length <= tagLengthMax);
  return { name, version, keywords: [...new Set(tags)].slice(0, tagsMax) };
}
