/** Watches of tables or bare metadata, over a whole server. */
import t, { test, type Test } from 'tap';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';
import { Watching, type Transport } from '../../support/watching.ts';

const server = await startTestServer();
t.teardown(() => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';

type Table = {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string };
  columnDefinitions: { name: string }[] | null;
  rows: { cells: unknown[]; object: { kind: string; metadata: { name?: string; annotations?: object } } | null }[];
};

let drawn = 0;

/** A label of its own for each test, so that tests see their own objects. */
function group(): string {
  drawn += 1;
  return `g${String(drawn)}`;
}

async function put(name: string, label: string, title = name): Promise<void> {
  const body = { metadata: { name, labels: { group: label } }, spec: { title } };
  const { status } = await server.call(widgets, { method: 'POST', body });
  if (status !== 201) throw new Error(`${name}: ${String(status)}`);
}

async function label(name: string, value: string): Promise<void> {
  await server.call(`${widgets}/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { labels: { group: value } } },
  });
}

async function watch(t: Test, query: string, accept = table, transport: Transport = 'json'): Promise<Watching> {
  const watching = await Watching.open(server.url, `${widgets}?${query}`, {
    transport,
    headers: { authorization: adminAuthorization, accept },
  });
  t.teardown(() => {
    watching.leave();
  });
  return watching;
}

function tables(watching: Watching): readonly (readonly [type: string, table: Table])[] {
  return watching.events.map(({ type, object }) => [type, object as unknown as Table]);
}

for (const transport of ['json', 'websocket'] as const)
  test(`each event is a table of one row, and only the first has columns: ${transport}`, async (t) => {
    const own = group();
    await put(`${own}-a`, own);
    await put(`${own}-b`, own);
    const initial = await watch(t, `labelSelector=group=${own}`, table, transport);
    await initial.until(({ texts }) => texts.length === 2);
    const later = await watch(t, `labelSelector=group=${own}&resourceVersion=${await position()}`, table, transport);
    await put(`${own}-c`, own);
    await server.call(`${widgets}/${own}-c`, { method: 'DELETE' });
    await initial.until(({ texts }) => texts.length === 5);
    await later.until(({ texts }) => texts.length === 3);
    const seen = tables(initial);
    t.strictSame(
      seen.map(([type, { kind, rows }]) => [type, kind, rows.length, rows[0]?.cells[0]]),
      [
        ['ADDED', 'Table', 1, `${own}-b`],
        ['ADDED', 'Table', 1, `${own}-a`],
        ['ADDED', 'Table', 1, `${own}-c`],
        ['MODIFIED', 'Table', 1, `${own}-c`],
        ['DELETED', 'Table', 1, `${own}-c`],
      ].map(([type, kind, count, name]) => [type, kind, count, name]),
    );
    for (const [, { rows, metadata }] of seen)
      t.match(rows[0]?.object, {
        kind: 'PartialObjectMetadata',
        metadata: { resourceVersion: metadata.resourceVersion },
      });
    for (const all of [seen, tables(later)]) {
      t.equal(all[0]?.[1].columnDefinitions?.length, 5);
      t.ok(all.slice(1).every(([, { columnDefinitions }]) => columnDefinitions === null));
    }
    t.strictSame(
      tables(later).map(([type, { rows }]) => [type, rows]),
      seen.slice(2).map(([type, { rows }]) => [type, rows]),
    );
  });

async function position(): Promise<string> {
  const { metadata } = (await (await server.call(`${widgets}?limit=1`)).json()) as Table;
  return metadata.resourceVersion;
}

test('a watcher that begins after another gets columns of its own', async (t) => {
  const own = group();
  const first = await watch(t, `labelSelector=group=${own}&resourceVersion=${await position()}`);
  await put(`${own}-a`, own);
  await first.until(({ texts }) => texts.length === 1);
  const second = await watch(t, `labelSelector=group=${own}&resourceVersion=${await position()}`);
  await put(`${own}-b`, own);
  await first.until(({ texts }) => texts.length === 2);
  await second.until(({ texts }) => texts.length === 1);
  t.equal(tables(first)[1]?.[1].columnDefinitions, null);
  t.equal(tables(second)[0]?.[1].columnDefinitions?.length, 5);
});

test('an object that leaves the selection is a table, too', async (t) => {
  const own = group();
  await put(`${own}-a`, own);
  const watching = await watch(t, `labelSelector=group=${own}`);
  await watching.until(({ texts }) => texts.length === 1);
  await label(`${own}-a`, 'away');
  await label(`${own}-a`, own);
  await watching.until(({ texts }) => texts.length === 3);
  t.match(
    tables(watching).map(([type, { kind, rows }]) => [type, kind, rows[0]?.cells[0]]),
    [
      ['ADDED', 'Table', `${own}-a`],
      ['DELETED', 'Table', `${own}-a`],
      ['ADDED', 'Table', `${own}-a`],
    ],
  );
});

test('bookmarks take the form, and mark the end of the initial state', async (t) => {
  const own = group();
  const state = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const query = `labelSelector=group=${own}&${state}&allowWatchBookmarks=true`;
  const empty = await watch(t, query);
  await empty.until(({ texts }) => texts.length === 1);
  const [type, first] = tables(empty)[0] ?? [];
  t.equal(type, 'BOOKMARK');
  t.match(first, { kind: 'Table', metadata: { resourceVersion: /^\d+$/u } });
  t.equal(first?.columnDefinitions?.length, 5, 'it is the first event');
  t.match(first?.rows, [
    {
      cells: [null, null, null, null, null],
      object: { kind: 'PartialObjectMetadata', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    },
  ]);
  await put(`${own}-a`, own);
  await empty.until(({ texts }) => texts.length === 2);
  t.equal(tables(empty)[1]?.[1].columnDefinitions, null);
  const bare = await watch(t, query, partial);
  await bare.until(({ texts }) => texts.length === 2);
  t.match(bare.events, [
    { type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: `${own}-a` } } },
    { type: 'BOOKMARK', object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } },
  ]);
  t.notOk('spec' in (bare.events[0]?.object ?? {}));
});

test('includeObject applies to watches, and a wrong one is refused', async (t) => {
  const own = group();
  await put(`${own}-a`, own);
  const whole = await watch(t, `labelSelector=group=${own}&includeObject=Object`);
  const none = await watch(t, `labelSelector=group=${own}&includeObject=None`);
  await whole.until(({ texts }) => texts.length === 1);
  await none.until(({ texts }) => texts.length === 1);
  t.match(tables(whole)[0]?.[1].rows[0]?.object, { kind: 'Widget', spec: { title: `${own}-a` } });
  t.equal(tables(none)[0]?.[1].rows[0]?.object, null);
  const refused = await server.call(`${widgets}?watch=true&includeObject=some`, { headers: { accept: table } });
  t.equal(refused.status, 400);
});

test('an error within a stream is a plain Status', async (t) => {
  const watching = await watch(t, `resourceVersion=${String(BigInt(await position()) + 1_000_000n)}`);
  await watching.until(({ texts }) => texts.length === 1);
  t.match(watching.events, [{ type: 'ERROR', object: { kind: 'Status', code: 410 } }]);
});

test('server-sent events show the objects themselves', async (t) => {
  const own = group();
  await put(`${own}-a`, own);
  const watching = await watch(t, `labelSelector=group=${own}`, `text/event-stream, ${table}`, 'sse');
  await watching.until(({ texts }) => texts.length === 1);
  t.match(watching.events, [{ type: 'ADDED', object: { kind: 'Widget' } }]);
});
