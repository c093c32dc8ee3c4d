/** Over HTTP, on a real server: every event of a name, its cause, and the change that it made. */
import { test, type Test } from 'tap';

import { applyJsonPatch } from '../../src/resource/object/patch.ts';
import type { JsonValue } from '../../src/resource/object/object.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

type Entry = {
  readonly id: string;
  readonly event: string;
  readonly position: string;
  readonly resourceVersion: string;
  readonly version: number;
  readonly uid: string;
  readonly time: string;
  readonly actor: string;
  readonly verb: string;
  readonly requestId: string;
  readonly change: readonly JsonValue[];
  readonly object?: { readonly metadata: { readonly resourceVersion: string }; readonly spec?: JsonValue };
};
type History = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Entry[];
};

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

async function write(server: TestServer, method: string, path: string, body?: unknown): Promise<Response> {
  const contentType = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  const headers = { 'x-request-id': `${method}-of-the-test`, ...contentType };
  const answer = await server.call(path, { method, body, headers });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return answer;
}

async function history(server: TestServer, name: string, query = ''): Promise<History> {
  const answer = await server.call(`${widgets}/${name}/history${query}`);
  if (answer.status !== 200) throw new Error(`${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as History;
}

const widget = (name: string, title: string) => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name },
  spec: { title },
});

/** A lamp, renamed twice and deleted, and then another one of the name. */
async function twoLives(server: TestServer): Promise<readonly [first: string, second: string]> {
  const uidOf = async (answer: Response): Promise<string> =>
    ((await answer.json()) as { readonly metadata: { readonly uid: string } }).metadata.uid;
  const first = await uidOf(await write(server, 'POST', widgets, widget('lamp', 'one')));
  await write(server, 'PUT', `${widgets}/lamp`, widget('lamp', 'two'));
  await write(server, 'PATCH', `${widgets}/lamp`, { metadata: { labels: { tier: 'web' } } });
  await write(server, 'DELETE', `${widgets}/lamp`);
  const second = await uidOf(await write(server, 'POST', widgets, widget('lamp', 'again')));
  return [first, second];
}

test('each event of an object is an entry, with its cause and its change', async (t) => {
  const server = await given(t);
  const [first, second] = await twoLives(server);
  const { kind, apiVersion, metadata, items } = await history(server, 'lamp');
  t.strictSame([kind, apiVersion], ['ObjectHistory', 'example.com/v1alpha1']);
  t.strictSame(
    items.map(({ event, version, uid, verb, requestId }) => [event, version, uid, verb, requestId]),
    [
      ['ObjectCreated', 0, first, 'create', 'POST-of-the-test'],
      ['ObjectUpdated', 1, first, 'update', 'PUT-of-the-test'],
      ['ObjectUpdated', 2, first, 'patch', 'PATCH-of-the-test'],
      ['ObjectDeletionRequested', 3, first, 'delete', 'DELETE-of-the-test'],
      ['ObjectDeleted', 4, first, 'delete', 'DELETE-of-the-test'],
      ['ObjectCreated', 5, second, 'create', 'POST-of-the-test'],
    ],
  );
  t.strictSame(items[1]?.change, [
    { op: 'replace', path: '/metadata/version', value: 1 },
    { op: 'replace', path: '/metadata/generation', value: 2 },
    { op: 'replace', path: '/spec/title', value: 'two' },
  ]);
  t.strictSame(items[2]?.change, [
    { op: 'replace', path: '/metadata/version', value: 2 },
    { op: 'add', path: '/metadata/labels', value: { tier: 'web' } },
  ]);
  for (const { actor, time, position, resourceVersion, id } of items) {
    t.equal(actor, 'admin');
    t.equal(new Date(time).toISOString(), time);
    t.equal(position, resourceVersion);
    t.match(id, /^[0-9a-f-]{36}$/u);
  }
  t.ok(BigInt(metadata.resourceVersion) >= BigInt(items.at(-1)?.position ?? 0));
  t.match(items[0], { address: '127.0.0.1', userAgent: String });
});

test('the patches of a life give each state of the object, and include=object shows it', async (t) => {
  const server = await given(t);
  await twoLives(server);
  const { items } = await history(server, 'lamp', '?include=object');
  let state: JsonValue = null;
  for (const { change, object, resourceVersion } of items) {
    const patched = applyJsonPatch(state, change);
    if (!patched.ok) throw new Error(patched.detail);
    state = patched.document;
    const { metadata, ...rest } = state as unknown as NonNullable<Entry['object']>;
    t.strictSame({ ...rest, metadata: { ...metadata, resourceVersion } }, { ...object });
  }
  const now = (await (await server.call(`${widgets}/lamp`)).json()) as object;
  t.strictSame(items.at(-1)?.object, now);
});

test('pages follow each other in both orders, and show the name as of the first one', async (t) => {
  const server = await given(t);
  await twoLives(server);
  for (const sort of ['position', 'position,desc'])
    for (const limit of [1, 2, 4, 100]) {
      const whole = (await history(server, 'lamp', '?limit=500')).items.map(({ id }) => id);
      const ids = await chained(server, `?sort=${sort}&limit=${String(limit)}`);
      t.strictSame(sort === 'position' ? ids : ids.toReversed(), whole, `${sort} ${String(limit)}`);
    }
});

/** The ids on all pages of a chain. What is written between two of them is on none. */
async function chained(server: TestServer, query: string): Promise<readonly string[]> {
  const first = await history(server, 'lamp', query);
  const ids = first.items.map(({ id }) => id);
  for (let next = first.metadata.continue; next !== undefined;) {
    await write(server, 'PATCH', `${widgets}/lamp`, { spec: { title: next.slice(-60) } });
    const page = await history(server, 'lamp', `${query}&continue=${next}`);
    if (page.metadata.resourceVersion !== first.metadata.resourceVersion) throw new Error('of another position');
    ids.push(...page.items.map(({ id }) => id));
    next = page.metadata.continue;
  }
  return ids;
}

test('uid chooses one of the objects that had the name', async (t) => {
  const server = await given(t);
  const uids = await twoLives(server);
  for (const sort of ['position', 'position,desc'])
    for (const [index, uid] of uids.entries()) {
      const { items } = await history(server, 'lamp', `?uid=${uid}&sort=${sort}`);
      t.ok(items.every((item) => item.uid === uid));
      t.equal(items.length, index === 0 ? 5 : 1);
      const first = await history(server, 'lamp', `?uid=${uid}&sort=${sort}&limit=1`);
      t.equal(first.items.length, 1);
    }
  const unknown = await server.call(`${widgets}/lamp/history?uid=nobody`);
  t.equal(unknown.status, 404);
  t.match(await unknown.json(), { message: 'widgets.example.com "lamp" not found with the uid "nobody"' });
});

test('a deleted object has a history, and a name that never was has none', async (t) => {
  const server = await given(t);
  await write(server, 'POST', widgets, widget('lamp', 'one'));
  await write(server, 'DELETE', `${widgets}/lamp`);
  t.equal((await server.call(`${widgets}/lamp`)).status, 404);
  t.equal((await history(server, 'lamp')).items.length, 3);
  for (const name of ['never', 'Not_a_Name', 'x'.repeat(300)])
    t.equal((await server.call(`${widgets}/${name}/history`)).status, 404, name);
});

test('mistaken queries are refused, and say what is wrong', async (t) => {
  const server = await given(t);
  await twoLives(server);
  await write(server, 'POST', widgets, widget('other', 'x'));
  const token = (await history(server, 'lamp', '?limit=1')).metadata.continue ?? '';
  const cases: Readonly<Record<string, readonly [status: number, message: RegExp]>> = {
    'lamp/history?limit=x': [400, /limit: must be a whole number/u],
    'lamp/history?limit=-1': [400, /limit: must be a whole number/u],
    'lamp/history?sort=time': [400, /sort: must be "position"/u],
    'lamp/history?sort=position&sort=position': [400, /sort: must be "position"/u],
    'lamp/history?include=all': [422, /include: must be "object"/u],
    'lamp/history?Include=object': [400, /did you mean "include"/u],
    'lamp/history?labelSelector=a': [400, /labelSelector: is not a parameter of a history/u],
    'lamp/history?continue=x': [400, /continue: the value is not a token of this query/u],
    [`lamp/history?sort=position,desc&continue=${token}`]: [400, /not a token of this query/u],
    [`lamp/history?uid=x&continue=${token}`]: [400, /not a token of this query/u],
    [`other/history?continue=${token}`]: [400, /not a token of this query/u],
    [`lamp/history?continue=${token.slice(0, -3)}&limit=1`]: [400, /not a token of this query/u],
    'lamp/history?resourceVersion=x': [400, /resourceVersion: must be a log position/u],
    'lamp/history?resourceVersion=99999999999999999999': [410, /belongs to another epoch/u],
  };
  for (const [path, [status, message]] of Object.entries(cases)) {
    const answer = await server.call(`${widgets}/${path}`);
    t.equal(answer.status, status, path);
    t.match(await answer.json(), { message }, path);
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await server.call(`${widgets}/lamp/history`, { method, body: {} });
    t.equal(answer.status, 405, method);
    t.equal(answer.headers.get('allow'), 'GET, HEAD');
  }
  t.equal((await history(server, 'lamp', '?limit=0')).items.length, 6, 'no limit is the default one');
  t.equal((await history(server, 'lamp', '?limit=1000000')).items.length, 6);
  t.equal((await server.call(`${widgets}/lamp/history`, { method: 'HEAD' })).status, 200);
});

test('history goes on over a restart', async (t) => {
  const server = await startTestServer();
  await twoLives(server);
  const before = await history(server, 'lamp', '?include=object');
  const again = await server.restart();
  t.teardown(() => again.remove());
  t.strictSame((await history(again, 'lamp', '?include=object')).items, before.items);
});
