import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { decodeConfig } from '../src/config/config.ts';
import { readEnvironment } from '../src/config/environment.ts';
import { Api } from './api.ts';
import { Arrivals } from './arrivals.ts';
import { readPosts } from './packages.ts';
import type { Post } from './packages.ts';
import { adminPassword, findServer } from './server.ts';

/**
 * Stores the README of every installed npm package as a Post, over HTTP, while a watch counts the posts; then lists
 * them by tag, in order and by page. A second run changes nothing.
 */
const writers = 16;
const watchTimeoutMs = 30_000;

type Outcome = 'created' | 'updated' | 'unchanged';
type Page = {
  readonly total: number;
  readonly totalPages: number;
  readonly items: readonly { readonly spec: Post['spec'] }[];
  readonly metadata: { readonly resourceVersion: string };
};

async function main(): Promise<void> {
  const folder = process.cwd();
  const environment = readEnvironment(folder, process.env);
  const decoded = decodeConfig(environment, folder);
  if (!decoded.ok) throw new Error(decoded.mistakes.join('\n'));
  const server = await findServer({ ...environment }, decoded.config);
  try {
    const api = new Api(server.url, adminPassword(decoded.config));
    console.log(`${server.started ? 'started a server' : 'found a server'} at ${server.url}`);
    await demonstrate(api, `/apis/content.${decoded.config.platformDomain}/v1alpha1/posts`);
  } finally {
    await server.stop();
  }
}

async function demonstrate(api: Api, path: string): Promise<void> {
  const posts = readPosts(resolve(import.meta.dirname, '../../node_modules'));
  const before = await page(api, path, 'size=1');
  const arrivals = await Arrivals.open(api, path, before.metadata.resourceVersion);
  const began = performance.now();
  const outcomes = await importAll(api, path, posts);
  const seconds = (performance.now() - began) / 1_000;
  const written = posts.filter(({ name }) => outcomes.get(name) !== 'unchanged').map(({ name }) => name);
  await arrivals.all(written, watchTimeoutMs);
  arrivals.close();
  const count = (outcome: Outcome): string =>
    [...outcomes.values()].filter((found) => found === outcome).length.toString();
  console.log(
    `${posts.length.toString()} packages in ${seconds.toFixed(1)} s: ${count('created')} posts created, ` +
      `${count('updated')} updated, ${count('unchanged')} unchanged`,
  );
  console.log(`the watch counted in ${arrivals.count.toString()} changes, ${written.length.toString()} expected`);
  await query(api, path, posts);
}

async function importAll(api: Api, path: string, posts: readonly Post[]): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const waiting = [...posts];
  const work = async (): Promise<void> => {
    for (let post = waiting.shift(); post !== undefined; post = waiting.shift())
      outcomes.set(post.name, await put(api, path, post));
  };
  await Promise.all(Array.from({ length: writers }, work));
  return outcomes;
}

/** Creates the post, or updates it if it exists. */
async function put(api: Api, path: string, { name, spec }: Post): Promise<Outcome> {
  const version = path.split('/').slice(2, 4).join('/');
  const created = await api.expect([201, 409], 'POST', path, {
    apiVersion: version,
    kind: 'Post',
    metadata: { name },
    spec,
  });
  if (created.status === 201) return 'created';
  const { body } = await api.expect([200], 'GET', `${path}/${name}`);
  if (isDeepStrictEqual(body['spec'], spec)) return 'unchanged';
  await api.expect([200], 'PATCH', `${path}/${name}`, { spec });
  return 'updated';
}

async function page(api: Api, path: string, query: string): Promise<Page> {
  return (await api.expect([200], 'GET', `${path}?${query}`)).body as unknown as Page;
}

async function query(api: Api, path: string, posts: readonly Post[]): Promise<void> {
  const tags = new Map<string, number>();
  for (const tag of posts.flatMap(({ spec }) => spec.tags)) tags.set(tag, (tags.get(tag) ?? 0) + 1);
  const common = [...tags].sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1)).slice(0, 5);
  console.log('\nmost common tags');
  for (const [tag, expected] of common) {
    const found = await page(
      api,
      path,
      `fieldSelector=${encodeURIComponent(`spec.tags=${escapeValue(tag)}`)}&sort=spec.title,asc&size=3`,
    );
    if (found.total < expected)
      throw new Error(
        `the server knows ${found.total.toString()} posts with the tag ${tag}, ${expected.toString()} were imported`,
      );
    console.log(
      `  ${tag.padEnd(16)} ${found.total.toString().padStart(4)}  ` +
        `${found.items.map(({ spec }) => spec.title).join(', ')} …`,
    );
  }
  const last = await page(api, path, 'sort=spec.title,desc&size=5&page=1');
  console.log(`\n${last.total.toString()} posts on ${last.totalPages.toString()} pages of 5; the last by title`);
  for (const { spec } of last.items) console.log(`  ${spec.title}`);
}

/** Escapes the characters that have a meaning in a selector. */
function escapeValue(value: string): string {
  return value.replaceAll(/[\\,=()]/gu, (character) => `\\${character}`);
}

// A reader that closes the pipe, such as `head`, wants no more output.
process.stdout.on('error', () => {
  process.exit(0);
});

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
