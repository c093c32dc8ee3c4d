/** Over HTTP, on a real server: what a DELETE has answered is gone, and its name and value are free. */
import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
type Shown = { readonly metadata: Readonly<Record<string, string | number>>; readonly items: readonly Shown[] };

test('after each of a hundred DELETEs a GET is 404, and name and unique value can be used again', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const made = { metadata: { name: 'lamp' }, spec: { title: 'Lamp', serial: 'A-1' } };
  const statuses = new Map<string, number>();
  const count = (what: string, { status }: Response): void => {
    const key = `${what} ${String(status)}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
  };
  for (let round = 0; round < 100; round += 1) {
    count('POST', await server.call(widgets, { method: 'POST', body: made }));
    count('DELETE', await server.call(`${widgets}/lamp`, { method: 'DELETE' }));
    if (round % 2 === 0) continue;
    count('GET', await server.call(`${widgets}/lamp`));
    count('DELETE again', await server.call(`${widgets}/lamp`, { method: 'DELETE' }));
  }
  t.strictSame(Object.fromEntries(statuses), {
    'POST 201': 100,
    'DELETE 200': 100,
    'GET 404': 50,
    'DELETE again 404': 50,
  });
});

test('DELETE answers with the removal; a watch shows MODIFIED and DELETED, and resumes between them', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  await server.call(widgets, { method: 'POST', body: { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } } });
  const answer = await server.call(`${widgets}/lamp`, { method: 'DELETE' });
  t.match(answer.headers.get('etag'), /^"2-/u);
  const removed = (await answer.json()) as Shown;
  t.match(removed.metadata, { name: 'lamp', version: 2, generation: 2 });
  t.type(removed.metadata['deletionTimestamp'], 'string');
  const seen = async (after: string): Promise<readonly { readonly type: string; readonly object: Shown }[]> => {
    const query = `watch=true&resourceVersion=${after}&timeoutSeconds=1`;
    const text = await (await server.call(`${widgets}?${query}`)).text();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { type: string; object: Shown });
  };
  const all = await seen('1');
  t.strictSame(
    all.map(({ type, object: { metadata } }) => [type, metadata['version']]),
    [
      ['ADDED', 0],
      ['MODIFIED', 1],
      ['DELETED', 2],
    ],
  );
  t.equal(all[2]?.object.metadata['resourceVersion'], removed.metadata['resourceVersion']);
  const between = await seen(String(all[1]?.object.metadata['resourceVersion']));
  t.strictSame(between, all.slice(2));
});

test('DELETE of a collection removes objects without finalizers and marks the rest', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  for (const [name, finalizers] of [
    ['a', []],
    ['b', ['example.com/hold']],
    ['c', []],
  ] as const) {
    await server.call(widgets, { method: 'POST', body: { metadata: { name, finalizers }, spec: { title: 'W' } } });
  }
  const { items } = (await (await server.call(widgets, { method: 'DELETE' })).json()) as Shown;
  const versions = Object.fromEntries(items.map(({ metadata }) => [metadata['name'], metadata['version']]));
  t.strictSame(versions, { a: 2, b: 1, c: 2 });
  t.ok(items.every(({ metadata }) => typeof metadata['deletionTimestamp'] === 'string'));
  const left = (await (await server.call(widgets)).json()) as Shown;
  t.strictSame(
    left.items.map(({ metadata }) => metadata['name']),
    ['b'],
  );
});
