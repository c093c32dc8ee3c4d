/** Tables and bare metadata, for every request of a generated API, over a whole server. */
import t, { test } from 'tap';

import { startTestServer, type CallInit } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const kubectl = `${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`;
const partial = (kind: string) => `application/json;as=${kind};v=v1;g=meta.k8s.io,application/json`;
const partials = partial('PartialObjectMetadataList');

type Metadata = { name: string; resourceVersion: string; version: number };
type ListMetadata = { resourceVersion: string; continue?: string; remainingItemCount?: number };
type Item = { metadata: Metadata; spec?: { title: string } };
type Row = { cells: unknown[]; object: Item & { kind: string; apiVersion: string } };
type Body = {
  kind: string;
  apiVersion: string;
  metadata: ListMetadata;
  columnDefinitions?: { name: string }[];
  rows: Row[];
  items: Item[];
  total: number;
};

async function ask(path: string, accept: string, init: CallInit = {}) {
  const response = await server.call(path, { ...init, headers: { accept, ...init.headers } });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

const count = 9;
for (let number = 1; number <= count; number += 1) {
  const parity = number % 2 === 0 ? 'even' : 'odd';
  const created = await server.call(widgets, {
    method: 'POST',
    body: {
      metadata: { name: `w${String(number)}`, labels: { parity } },
      spec: { title: `Title ${String(number)}`, ...(number === 3 ? {} : { size: number }) },
    },
  });
  if (created.status !== 201) throw new Error(await created.text());
}

test('a list as a table has the columns of the type, and the rows of the plain list', async (t) => {
  for (const query of [
    '',
    '?limit=500',
    '?labelSelector=parity=odd',
    '?sort=spec.size,desc',
    '?page=2&size=4',
    '?limit=4',
  ]) {
    const plain = await ask(`${widgets}${query}`, 'application/json');
    const { status, headers, body } = await ask(`${widgets}${query}`, kubectl);
    t.equal(status, 200);
    t.equal(headers.get('content-type'), 'application/json');
    t.equal(headers.get('etag'), null);
    t.equal(headers.get('vary'), 'Accept');
    t.match(body, { kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    t.strictSame(
      body.columnDefinitions?.map(({ name }) => name),
      ['Name', 'Title', 'Size', 'Phase', 'Age'],
    );
    t.strictSame(body.metadata, plain.body.metadata, query);
    t.equal(body.total, plain.body.total);
    const { items } = plain.body;
    t.ok(items.length > 0);
    t.strictSame(
      body.rows.map(({ object }) => object),
      items.map(({ metadata }) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata })),
    );
    for (const [index, { cells }] of body.rows.entries()) {
      const [name, title, size, phase, age] = cells;
      t.strictSame([name, title], [items[index]?.metadata.name, items[index]?.spec?.title]);
      t.equal(size, name === 'w3' ? null : Number(String(name).slice(1)));
      t.equal(phase, null);
      t.match(age, /^\d+s$/u);
    }
  }
});

test('the version that comes first in Accept is the one of the answer', async (t) => {
  const { body } = await ask(widgets, 'application/json;as=Table;v=v1beta1;g=meta.k8s.io');
  t.equal(body.apiVersion, 'meta.k8s.io/v1beta1');
  t.equal(body.rows[0]?.object.apiVersion, 'meta.k8s.io/v1beta1');
  t.equal((await ask(widgets, 'application/json;as=Chair;v=v1;g=meta.k8s.io')).body.kind, 'WidgetList');
});

test('pages of a table are continued like those of a list, also in another form', async (t) => {
  const seen: string[] = [];
  let path = `${widgets}?limit=2`;
  for (let page = 0; ; page += 1) {
    const { body } = await ask(path, page === 1 ? 'application/json' : kubectl);
    seen.push(
      ...(page === 1 ? body.items.map((item) => item.metadata.name) : body.rows.map((row) => String(row.cells[0]))),
    );
    t.equal(body.metadata.remainingItemCount, page < 4 ? 7 - 2 * page : undefined);
    if (body.metadata.continue === undefined) break;
    path = `${widgets}?limit=2&continue=${body.metadata.continue}`;
  }
  t.strictSame(seen, ['w9', 'w8', 'w7', 'w6', 'w5', 'w4', 'w3', 'w2', 'w1']);
});

test('includeObject decides what a row carries', async (t) => {
  const { body: plain } = await ask(`${widgets}/w1`, 'application/json');
  const objectOf = async (query: string) => (await ask(`${widgets}/w1?${query}`, kubectl)).body.rows[0]?.object;
  t.strictSame(await objectOf('includeObject=None'), null);
  t.strictSame(await objectOf('includeObject=Object'), plain);
  t.match(await objectOf('includeObject=Metadata'), { kind: 'PartialObjectMetadata', metadata: plain.metadata });
  const { status, body } = await ask(`${widgets}/w1?includeObject=object`, kubectl);
  t.equal(status, 400);
  t.match(body, { kind: 'Status', message: /includeObject: must be None, Metadata or Object, is "object"/u });
  t.equal((await ask(`${widgets}?includeObject=all`, kubectl)).status, 400);
  t.equal((await ask(`${widgets}?includeObject=all`, 'application/json')).status, 200, 'no table, so not read');
});

test('an object is a table of one row, or bare metadata', async (t) => {
  const { body: plain } = await ask(`${widgets}/w1`, 'application/json');
  const { body } = await ask(`${widgets}/w1`, kubectl);
  t.strictSame(body.metadata, { resourceVersion: plain.metadata.resourceVersion });
  t.strictSame(body.rows[0]?.cells.slice(0, 4), ['w1', 'Title 1', 1, null]);
  t.equal(body.rows.length, 1);
  t.equal(body.columnDefinitions?.length, 5);
  const bare = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: plain.metadata };
  t.strictSame((await ask(`${widgets}/w1`, partial('PartialObjectMetadata'))).body, bare);
  const { body: list } = await ask(`${widgets}?limit=1&sort=metadata.name`, partials);
  t.match(list, { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items: [bare] });
  t.type(list.metadata.continue, 'string');
  t.match((await ask(`${widgets}/none`, kubectl)).body, { kind: 'Status', code: 404, reason: 'NotFound' });
});

test('a form without an entity tag is never 304, and still checks If-Match', async (t) => {
  const conditional = async (accept: string, headers: Record<string, string>) =>
    (await server.call(`${widgets}/w1`, { headers: { accept, ...headers } })).status;
  const tag = (await server.call(`${widgets}/w1`)).headers.get('etag') ?? '';
  t.equal(await conditional('application/json', { 'if-none-match': tag }), 304);
  t.equal(await conditional(kubectl, { 'if-none-match': tag }), 200);
  t.equal(await conditional(partials, { 'if-none-match': '*' }), 200);
  t.equal(await conditional(kubectl, { 'if-match': '"0"' }), 200);
  t.equal(await conditional(kubectl, { 'if-match': '"4"' }), 412);
});

test('writes answer in the form that is asked for', async (t) => {
  const kind = { apiVersion: 'example.com/v1alpha1', kind: 'Widget' };
  const body = { ...kind, metadata: { name: 'written' }, spec: { title: 'Written', size: 5 } };
  const one = `${widgets}/written`;
  const cells = ({ body: answer }: { body: Body }) => {
    if (answer.kind !== 'Table') throw new Error(JSON.stringify(answer));
    return answer.rows[0]?.cells.slice(0, 3);
  };
  const created = await ask(widgets, kubectl, { method: 'POST', body });
  t.equal(created.status, 201, JSON.stringify(created.body));
  t.equal(created.headers.get('etag'), null);
  t.equal(created.headers.get('location'), one);
  t.strictSame(cells(created), ['written', 'Written', 5]);
  t.strictSame(cells(await ask(one, kubectl, { method: 'PUT', body: { ...body, spec: { title: 'Put' } } })), [
    'written',
    'Put',
    null,
  ]);
  const patch = { headers: { 'content-type': 'application/merge-patch+json' }, method: 'PATCH' };
  const spec = { title: 'x'.repeat(100) };
  t.strictSame(cells(await ask(one, kubectl, { ...patch, body: { spec } })), ['written', spec.title, null]);
  const status = { status: { phase: 'y'.repeat(1_000) } };
  const phased = await ask(`${one}/status`, kubectl, { ...patch, body: status });
  t.equal(phased.status, 200, JSON.stringify(phased.body));
  t.equal(String(phased.body.rows[0]?.cells[3]).length, 1_000);
  t.match((await ask(one, partials, { ...patch, body: { metadata: { labels: { a: 'b' } } } })).body, {
    kind: 'PartialObjectMetadata',
    metadata: { labels: { a: 'b' } },
  });
  t.equal((await ask(`${one}?includeObject=x`, kubectl, { method: 'DELETE' })).status, 400, 'nothing is deleted');
  t.strictSame(cells(await ask(one, kubectl, { method: 'DELETE' })), ['written', spec.title, null]);
  t.match((await ask(one, kubectl, { method: 'DELETE' })).body, { kind: 'Status', reason: 'NotFound' });
});

test('a deletion of a collection answers with a table of the deleted objects', async (t) => {
  for (const name of ['d1', 'd2'])
    await server.call(widgets, {
      method: 'POST',
      body: { metadata: { name, labels: { d: 'd' } }, spec: { title: name } },
    });
  const { body } = await ask(`${widgets}?labelSelector=d`, kubectl, { method: 'DELETE' });
  t.equal(body.kind, 'Table');
  t.equal(body.columnDefinitions?.length, 5);
  t.strictSame(
    body.rows.map(({ cells }) => cells[0]),
    ['d2', 'd1'],
  );
  t.equal(body.total, 2);
  const { body: none } = await ask(`${widgets}?labelSelector=d`, partials, { method: 'DELETE' });
  t.match(none, { kind: 'PartialObjectMetadataList', items: [], total: 0 });
});

test('a long list is streamed as a table', async (t) => {
  const many = 1_500;
  const path = '/apis/example.com/v1alpha1/widgets?labelSelector=long';
  const names = Array.from({ length: many }, (_, index) => `long-${String(index).padStart(4, '0')}`);
  for (let start = 0; start < many; start += 100)
    await Promise.all(
      names.slice(start, start + 100).map(async (name) =>
        server.call(widgets, {
          method: 'POST',
          body: { metadata: { name, labels: { long: '' } }, spec: { title: name } },
        }),
      ),
    );
  const { body: plain } = await ask(path, 'application/json');
  for (const accept of [kubectl, partials]) {
    const { headers, body } = await ask(path, accept);
    t.equal(headers.get('transfer-encoding'), 'chunked');
    t.strictSame(body.metadata, plain.metadata);
    t.equal(body.total, many);
    const listed = accept === kubectl ? body.rows.map(({ object }) => object) : body.items;
    t.strictSame(
      listed.map(({ metadata }) => metadata),
      plain.items.map(({ metadata }) => metadata),
    );
  }
});
