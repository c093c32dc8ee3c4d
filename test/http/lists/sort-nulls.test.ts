/** Where a sort puts objects without a value, over HTTP: pages, chains, the list cache and multi-valued indexes. */
import t, { test } from 'tap';

import { startTestServer } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(async () => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';

type List = {
  readonly metadata: { readonly continue?: string };
  readonly total: number;
  readonly message?: string;
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
};

async function list(query: string, status = 200): Promise<List> {
  const response = await server.call(`${widgets}?${query}`);
  const body = (await response.json()) as List;
  if (response.status !== status) throw new Error(`${query}: ${String(response.status)} ${JSON.stringify(body)}`);
  return body;
}

function namesOf({ items }: List): readonly string[] {
  return items.map(({ metadata }) => metadata.name);
}

async function put(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const body = { metadata: { name }, spec: { title: name, ...spec } };
  const response = await server.call(widgets, { method: 'POST', body });
  if (response.status !== 201) throw new Error(await response.text());
}

await put('one', { size: 1, tags: ['m', 'b'] });
await put('two', { size: 2, tags: ['c'] });
await put('none', {});
await put('three', { size: 3, tags: ['a', 'z'] });
await put('nil', { tags: [] });

/** Ties of objects without a value go by name, as the sort says. */
const orders = [
  ['spec.size,asc', ['one', 'two', 'three', 'nil', 'none']],
  ['spec.size,desc', ['nil', 'none', 'three', 'two', 'one']],
  ['spec.size,asc,nulls=first', ['nil', 'none', 'one', 'two', 'three']],
  ['spec.size,desc,nulls=last', ['three', 'two', 'one', 'nil', 'none']],
  ['spec.size,asc,nulls=last', ['one', 'two', 'three', 'nil', 'none']],
  ['spec.size,desc,nulls=first', ['nil', 'none', 'three', 'two', 'one']],
  ['spec.size,nulls=first', ['nil', 'none', 'one', 'two', 'three']],
  ['spec.tags,asc,nulls=first', ['nil', 'none', 'three', 'one', 'two']],
  ['spec.tags,desc,nulls=last', ['three', 'one', 'two', 'nil', 'none']],
] as const;

test('objects without a value are sorted as the query says: whole, by page and by chain', async (t) => {
  for (const [sort, expected] of orders) {
    const query = `sort=${sort}&sort=metadata.name`;
    t.strictSame(namesOf(await list(query)), expected, sort);
    t.strictSame(namesOf(await list(query)), expected, `${sort} from the cache`);
    for (const size of [1, 2, 3]) {
      const pages: string[] = [];
      for (let page = 1; page <= Math.ceil(5 / size); page += 1) {
        pages.push(...namesOf(await list(`${query}&page=${String(page)}&size=${String(size)}`)));
      }
      t.strictSame(pages, expected, `${sort} by ${String(size)}`);
      const chained: string[] = [];
      for (let token: string | undefined = ''; token !== undefined;) {
        const body: List = await list(`${query}&limit=${String(size)}&continue=${token}`);
        chained.push(...namesOf(body));
        token = body.metadata.continue;
      }
      t.strictSame(chained, expected, `${sort} by ${String(size)} in a chain`);
    }
  }
});

test('a selection keeps the order, and a second sort field has its own order of nulls', async (t) => {
  const query = 'fieldSelector=spec.title!=two&sort=spec.size,desc,nulls=last&sort=metadata.name,desc';
  t.strictSame(namesOf(await list(query)), ['three', 'one', 'none', 'nil']);
  t.strictSame(
    namesOf(await list('sort=metadata.deletionTimestamp&sort=spec.size,desc,nulls=last&sort=metadata.name')),
    ['three', 'two', 'one', 'nil', 'none'],
  );
  const absent = 'fieldSelector=!spec.size&sort=spec.size,nulls=first&sort=metadata.name';
  t.strictSame(namesOf(await list(absent)), ['nil', 'none']);
  t.strictSame(namesOf(await list('fieldSelector=spec.size>1&sort=spec.size,desc,nulls=last')), ['three', 'two']);
});

test("a token is bound to the query's order of nulls", async (t) => {
  const {
    metadata: { continue: token = '' },
  } = await list('sort=spec.size,desc,nulls=last&limit=2');
  await list(`sort=spec.size,desc,nulls=last&limit=2&continue=${token}`);
  for (const sort of ['spec.size,desc', 'spec.size,desc,nulls=first', 'spec.size,asc,nulls=last']) {
    t.match((await list(`sort=${sort}&limit=2&continue=${token}`, 400)).message, /not a token of this query/u, sort);
  }
});

test('a cached answer follows a value that is removed and set again', async (t) => {
  const query = 'sort=spec.size,desc,nulls=last&sort=metadata.name';
  const patch = async (size: number | null): Promise<void> => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    await server.call(`${widgets}/none`, { method: 'PATCH', headers, body: { spec: { size } } });
  };
  await patch(9);
  t.strictSame(namesOf(await list(query)), ['none', 'three', 'two', 'one', 'nil']);
  await patch(null);
  t.strictSame(namesOf(await list(query)), ['three', 'two', 'one', 'nil', 'none']);
});

test('any other suffix of a field is refused', async (t) => {
  const odds = [
    'nulls',
    'nulls=middle',
    'nulls=first,desc',
    'desc,nulls=first,asc',
    'desc,nulls%3D',
    'desc;nulls=last',
  ];
  for (const odd of odds) {
    t.match((await list(`sort=spec.size,${odd}`, 400)).message, /"nulls=first" or "nulls=last"/u, odd);
  }
  t.strictSame(namesOf(await list('sort=spec.size%2CDESC%2C%20Nulls%3DLAST&size=1')), ['three']);
});
