import t, { test } from 'tap';

import { startTestServer, type CallInit } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';

type List = {
  apiVersion: string;
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  page: number;
  size: number;
  total: number;
  first: boolean;
  last: boolean;
  hasNext: boolean;
  hasPrevious: boolean;
  totalPages: number;
  items: { metadata: { name: string; resourceVersion: string; deletionTimestamp?: string }; spec: { title: string } }[];
  reason?: string;
  message?: string;
};

async function list(query = '', init?: CallInit): Promise<{ status: number; body: List }> {
  const response = await server.call(`${widgets}${query === '' ? '' : `?${query}`}`, init);
  return { status: response.status, body: (await response.json()) as List };
}

function names({ body }: { readonly body: List }): readonly string[] {
  return body.items.map(({ metadata }) => metadata.name);
}

const count = 9;
for (let number = 1; number <= count; number += 1) {
  const response = await server.call(widgets, {
    method: 'POST',
    body: {
      metadata: { name: `w${String(number)}`, labels: { parity: number % 2 === 0 ? 'even' : 'odd' } },
      spec: { title: `Title ${String(number)}`, size: number },
    },
  });
  if (response.status !== 201) throw new Error(await response.text());
}

test('without parameters a list is one page with every object', async (t) => {
  const { status, body } = await list();
  const { items, metadata, ...envelope } = body;
  t.equal(status, 200);
  t.strictSame(envelope, {
    apiVersion: 'example.com/v1alpha1',
    kind: 'WidgetList',
    page: 1,
    size: 0,
    total: 9,
    first: true,
    last: true,
    hasNext: false,
    hasPrevious: false,
    totalPages: 1,
  });
  t.equal(items.length, 9);
  t.ok(items.every((item) => BigInt(item.metadata.resourceVersion) <= BigInt(metadata.resourceVersion)));
  t.strictSame(Object.keys(metadata), ['resourceVersion']);
});

test('the envelope counts pages', async (t) => {
  const envelope = async (query: string): Promise<unknown> => {
    const { body } = await list(query);
    return [
      body.page,
      body.size,
      body.total,
      body.totalPages,
      body.first,
      body.last,
      body.hasNext,
      body.hasPrevious,
      body.items.length,
    ];
  };
  t.strictSame(await envelope('page=1&size=5'), [1, 5, 9, 2, true, false, true, false, 5]);
  t.strictSame(await envelope('page=2&size=5'), [2, 5, 9, 2, false, true, false, true, 4]);
  t.strictSame(await envelope('page=3&size=5'), [3, 5, 9, 2, false, true, false, true, 0]);
  t.strictSame(await envelope('page=0&size=9'), [1, 9, 9, 1, true, true, false, false, 9]);
  t.strictSame(await envelope('size=3'), [1, 3, 9, 3, true, false, true, false, 3]);
  t.strictSame(await envelope('page=4'), [1, 0, 9, 1, true, true, false, false, 9]);
  t.strictSame(await envelope('size=0'), [1, 0, 9, 1, true, true, false, false, 9]);
  t.strictSame(await envelope('size=5&labelSelector=parity=none'), [1, 5, 0, 0, true, true, false, false, 0]);
});

test("a chain of limit and continue returns each object once, at the first page's resourceVersion", async (t) => {
  const seen: string[] = [];
  const remaining: (number | undefined)[] = [];
  const positions = new Set<string>();
  let query = 'limit=2&sort=spec.size,desc';
  for (let page = 1; query !== ''; page += 1) {
    const { body } = await list(query);
    t.match([body.page, body.size, body.total], [page, 2, 9 + (page > 1 ? 1 : 0)]);
    // A write between two pages moves no page's position.
    if (page === 1)
      await server.call(widgets, {
        method: 'POST',
        body: { metadata: { name: 'late' }, spec: { title: 'late', size: 100 } },
      });
    seen.push(...body.items.map(({ metadata }) => metadata.name));
    remaining.push(body.metadata.remainingItemCount);
    positions.add(body.metadata.resourceVersion);
    t.equal(body.hasNext, body.metadata.continue !== undefined);
    query =
      body.metadata.continue === undefined ? '' : `limit=2&sort=spec.size,desc&continue=${body.metadata.continue}`;
  }
  t.strictSame(seen, ['w9', 'w8', 'w7', 'w6', 'w5', 'w4', 'w3', 'w2', 'w1']);
  t.strictSame(remaining, [7, 5, 3, 1, undefined]);
  t.equal(positions.size, 1);
  await server.call(`${widgets}/late`, { method: 'DELETE' });
  for (let tries = 0; tries < 1_000 && (await list()).body.total > 9; tries += 1) continue;
});

test('a continue token is valid for its own query only', async (t) => {
  const token = (await list('limit=2&labelSelector=parity=odd')).body.metadata.continue ?? '';
  t.equal((await list(`limit=2&labelSelector=parity=odd&continue=${token}`)).status, 200);
  t.strictSame(
    names(await list(`labelSelector=parity=odd&continue=${token}`)).length,
    3,
    'without a limit: all the rest',
  );
  t.equal((await list(`limit=2&labelSelector=parity=even&continue=${token}`)).status, 400);
  t.equal((await list(`limit=2&continue=${token}`)).status, 400);
  t.equal((await list(`limit=2&labelSelector=parity=odd&sort=spec.size&continue=${token}`)).status, 400);
  for (const forged of [
    '@@@',
    'e30',
    'W10',
    Buffer.from('[1,2,3,4,5,6,7]').toString('base64url'),
    token.slice(0, -4),
    `${token}AA`,
  ]) {
    t.equal((await list(`limit=2&labelSelector=parity=odd&continue=${forged}`)).status, 400, forged);
  }
});

test('selectors and sorts select and sort', async (t) => {
  t.strictSame([...names(await list('labelSelector=parity=odd'))].sort(), ['w1', 'w3', 'w5', 'w7', 'w9']);
  t.strictSame(names(await list('labelSelector=parity=odd&fieldSelector=spec.size>4&sort=spec.size')), [
    'w5',
    'w7',
    'w9',
  ]);
  t.strictSame(names(await list('fieldSelector=metadata.name=w3')), ['w3']);
  t.strictSame(names(await list('fieldSelector=spec.size=(2,4)&sort=spec.size,desc&size=1')), ['w4']);
});

test('malformed queries are refused with 400, or 422 where Kubernetes does so', async (t) => {
  const cases: readonly (readonly [string, number])[] = [
    ['page=-1', 400],
    ['page=x', 400],
    ['size=1.5', 400],
    ['size=99999999999999999999', 400],
    ['limit=-5', 400],
    ['page=1&limit=2', 400],
    ['size=2&continue=abc', 400],
    ['labelSelector=a in b', 400],
    ['fieldSelector=spec.nosuch=1', 400],
    ['sort=spec.nosuch', 400],
    ['sort=spec.size,up', 400],
    ['resourceVersion=abc', 400],
    ['resourceVersionMatch=NotOlderThan', 422],
    ['resourceVersionMatch=Newest&resourceVersion=1', 422],
    ['sendInitialEvents=true', 422],
    [Array.from({ length: 65 }, () => 'a=1').join('&'), 400],
  ];
  for (const [query, status] of cases) t.equal((await list(query)).status, status, query);
});

test('parameters that tools send and the server does not use are ignored', async (t) => {
  t.equal((await list('timeout=32s&pretty=true&fieldManager=kubectl&limit=500&includeObject=Object')).status, 200);
});

test('a list waits for a resourceVersion, and serves an exact one only if it is the current one', async (t) => {
  const { body } = await list();
  const position = body.metadata.resourceVersion;
  t.equal((await list(`resourceVersion=${position}&resourceVersionMatch=NotOlderThan`)).status, 200);
  t.equal((await list(`resourceVersion=${position}&resourceVersionMatch=Exact`)).status, 200);
  t.match(await list('resourceVersion=1&resourceVersionMatch=Exact'), { status: 410, body: { reason: 'Expired' } });
  t.equal((await list('resourceVersion=0')).status, 200);
  t.match(await list('resourceVersion=99999999'), { status: 504, body: { reason: 'Timeout' } });
});

test('a repeated list is equal, and the next one after a change shows it', async (t) => {
  const first = await (await server.call(`${widgets}?sort=spec.size`)).text();
  t.equal(await (await server.call(`${widgets}?sort=spec.size`)).text(), first);
  await server.call(`${widgets}/w1`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { title: 'New' } },
  });
  const { body } = await list('sort=spec.size');
  t.equal(body.items[0]?.spec.title, 'New');
  t.equal(body.metadata.resourceVersion, body.items[0]?.metadata.resourceVersion);
});

test('HEAD of a list has no body', async (t) => {
  const response = await server.call(widgets, { method: 'HEAD' });
  t.match([response.status, await response.text()], [200, '']);
});

test('a list too long to join is streamed, complete and well-formed, and releases its slot', async (t) => {
  const writes: Promise<Response>[] = [];
  for (let number = 0; number < 1_100; number += 1)
    writes.push(
      server.call(widgets, {
        method: 'POST',
        body: { metadata: { name: `many-${String(number)}`, labels: { many: 'yes' } }, spec: { title: 'x' } },
      }),
    );
  await Promise.all(writes);
  const response = await server.call(`${widgets}?labelSelector=many=yes`);
  t.equal(response.headers.get('content-length'), null);
  const body = (await response.json()) as List;
  t.match(
    [body.total, body.items.length, new Set(body.items.map(({ metadata }) => metadata.name)).size],
    [1_100, 1_100, 1_100],
  );
  // More than there are slots, some read, some only asked for, some left in the middle.
  for (let round = 0; round < 70; round += 1) {
    if (round % 3 === 0) await server.call(`${widgets}?labelSelector=many=yes`, { method: 'HEAD' });
    else await (await server.call(`${widgets}?labelSelector=many=yes`)).body?.cancel();
  }
  t.equal((await list('labelSelector=many=yes')).body.items.length, 1_100);
});

test('deleting a collection marks the selected objects, answers with them, and keeps the rest', async (t) => {
  t.equal(
    (await list('labelSelector=many=yes&limit=5', { method: 'DELETE' })).status,
    400,
    'a page of a deletion is no deletion',
  );
  t.equal((await list('labelSelector=many in x', { method: 'DELETE' })).status, 400);
  const dry = await list('labelSelector=many=yes&dryRun=All', { method: 'DELETE' });
  t.match([dry.status, dry.body.total], [200, 1_100]);
  t.equal((await list('labelSelector=many=yes&size=1')).body.total, 1_100);
  const deleted = await list('labelSelector=many=yes', { method: 'DELETE', body: { propagationPolicy: 'Background' } });
  t.match(
    [deleted.status, deleted.body.kind, deleted.body.total, deleted.body.items.length],
    [200, 'WidgetList', 1_100, 1_100],
  );
  t.ok(deleted.body.items.every(({ metadata }) => metadata.deletionTimestamp !== undefined));
  t.strictSame([...names(await list('labelSelector=!many'))].sort(), [
    'w1',
    'w2',
    'w3',
    'w4',
    'w5',
    'w6',
    'w7',
    'w8',
    'w9',
  ]);
  t.match((await list('labelSelector=none=here', { method: 'DELETE' })).body, { total: 0, items: [] });
});
