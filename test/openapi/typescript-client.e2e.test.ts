import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test, type Test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';

const run = promisify(execFile);
const modules = join(repository, 'test', 'tools', 'node_modules');

/**
 * A client over the types that openapi-typescript 7.13.0 makes: paths, parameters, bodies and answers are checked when
 * it is compiled, as are the mistakes that it must refuse. It prints its answers, as JSON.
 */
const program = `
import type { paths } from './api.js';

declare const process: { readonly argv: readonly string[] };
declare const console: { log(text: string): void };
const [, , origin = '', authorization = ''] = process.argv;

type Operation = {
  readonly parameters: { readonly query?: object | undefined; readonly path?: object | undefined };
  readonly requestBody?: { readonly content: object } | undefined;
  readonly responses: object;
};
type Verb = 'get' | 'put' | 'post' | 'delete' | 'patch';
type Method<P extends keyof paths> = { [M in Verb]: paths[P][M] extends Operation ? M : never }[Verb];
type Of<P extends keyof paths, M extends Method<P>> = paths[P][M] extends Operation ? paths[P][M] : never;
type Content<T> = T extends { readonly content: infer C } ? C[keyof C & 'application/json'] : never;
type Answer<O> = O extends { readonly responses: infer R } ? Content<R[keyof R & (200 | 201)]> : never;
type Part<O, K extends 'query' | 'path'> = O extends { readonly parameters: infer T } ? T[K & keyof T] : never;
type Body<O> = O extends { readonly requestBody: { readonly content: infer C } } ? C[keyof C] : undefined;
type Asked<O> = {
  readonly query?: Part<O, 'query'>;
  readonly path?: Part<O, 'path'>;
  readonly body?: Body<O>;
  readonly type?: string;
};

class Refusal extends Error {
  readonly code: number;
  constructor(code: number, reason: string) {
    super(reason);
    this.code = code;
  }
}

async function call<P extends keyof paths, M extends Method<P>>(
  method: M,
  path: P,
  { query, path: names, body, type = 'application/json' }: Asked<Of<P, M>> = {},
): Promise<Answer<Of<P, M>>> {
  const url = new URL(
    path.replace(/\\{(\\w+)\\}/gu, (_whole, name: string) => String((names as Record<string, unknown>)[name])),
    origin,
  );
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value));
  const answer = await fetch(url, {
    method: method.toUpperCase(),
    headers: { authorization, 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.json();
  if (!answer.ok) throw new Refusal(answer.status, text.reason);
  return text;
}

const widgets = '/apis/example.com/v1alpha1/widgets';
const widget = '/apis/example.com/v1alpha1/widgets/{name}';
const path = { name: 'lamp' };

const created = await call('post', widgets, { body: { metadata: { name: 'lamp' }, spec: { title: 'Lamp', size: 1 } } });
const size: number | undefined = created.spec.size;
const replaced = await call('put', widget, { path, body: { ...created, spec: { title: 'Lamp', power: 'on' } } });
const listed = await call('get', widgets, { query: { labelSelector: '!none', limit: 5 } });
const titles: readonly string[] = listed.items.map(({ spec }) => spec.title);
const stale = await call('put', widget, { path, body: { ...created, spec: { title: 'Stale' } } }).catch(
  (error: Refusal) => error.code + ' ' + error.message,
);
const patched = await call('patch', widget, {
  path,
  type: 'application/merge-patch+json',
  body: { spec: { size: 7 } },
});
const user = await call('get', '/api/v1alpha1/users/{name}', { path: { name: 'admin' } });
await call('delete', widget, { path });
const total: number | undefined = (await call('get', widgets)).total;

/** Never called: each is a mistake that the types refuse. */
export const mistakes = [
  // @ts-expect-error The schema has no such value.
  () => call('post', widgets, { body: { spec: { title: 'x', power: 'maybe' } } }),
  // @ts-expect-error A title is required.
  () => call('post', widgets, { body: { spec: { size: 1 } } }),
  // @ts-expect-error A size is a number.
  () => call('post', widgets, { body: { spec: { title: 'x', size: '1' } } }),
  // @ts-expect-error There is no such path.
  () => call('get', '/apis/example.com/v1alpha1/wodgets'),
  // @ts-expect-error A collection is not replaced.
  () => call('put', widgets, {}),
  // @ts-expect-error A page has a number.
  () => call('get', widgets, { query: { page: 'first' } }),
  // @ts-expect-error Of the status a phase is a text.
  () => listed.items[0]?.status?.phase === 1,
];

const power = replaced.spec.power;
console.log(JSON.stringify({ size, power, titles, stale, patched: patched.spec.size, user: user.kind, total }));
`;

/** Generates, compiles and runs the client in a folder of its own. Answers what it printed. */
async function runClient(t: Test, server: TestServer, document: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-openapi-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'openapi.json'), document);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'client.ts'), program);
  const tool = join(modules, 'openapi-typescript', 'bin', 'cli.js');
  await run(process.execPath, [tool, 'openapi.json', '-o', 'api.ts'], { cwd: folder });
  const compiler = join(modules, 'typescript', 'bin', 'tsc');
  const options = ['--strict', '--target', 'es2022'];
  const files = ['--module', 'nodenext', '--lib', 'es2022,dom', '--outDir', 'built', 'client.ts'];
  const compiled = await run(process.execPath, [compiler, ...options, ...files], { cwd: folder }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  if (compiled.stdout !== '') throw new Error(`the client does not compile:\n${compiled.stdout}`);
  const authorization = `Basic ${Buffer.from(`admin:${testPassword}`).toString('base64')}`;
  const { stdout } = await run(process.execPath, [join(folder, 'built', 'client.js'), server.url, authorization]);
  return JSON.parse(stdout) as unknown;
}

test('openapi-typescript makes a client of the whole API that compiles, refuses mistakes, and works', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const answer = await server.call('/v3/api-docs');
  t.equal(answer.status, 200);
  t.strictSame(await runClient(t, server, await answer.text()), {
    size: 1,
    power: 'on',
    titles: ['Lamp'],
    stale: '409 Conflict',
    patched: 7,
    user: 'User',
    total: 0,
  });
});
