/** Responses in YAML, over a whole server. */
import t, { test } from 'tap';
import { parse } from 'yaml';

import { ask } from '../../support/ask.ts';
import { adminAuthorization, startTestServer, type CallInit } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';
const yaml = 'application/yaml';

type Body = {
  kind: string;
  metadata: { name: string; uid: string };
  rows?: unknown[];
  items?: unknown[];
  reason?: string;
};

async function asked(path: string, accept = yaml, init: CallInit = {}) {
  const response = await server.call(path, { ...init, headers: { accept, ...init.headers } });
  const type = response.headers.get('content-type');
  const text = await response.text();
  const body = (type === yaml ? parse(text) : text === '' ? undefined : JSON.parse(text)) as Body;
  return { status: response.status, headers: response.headers, type, text, body };
}

/** The same response in YAML and in JSON. */
async function both(path: string, form = '') {
  const [one, other] = [await asked(path, `${yaml}${form}`), await asked(path, `application/json${form}`)];
  return { yaml: one, json: other };
}

for (const [index, name] of ['a', 'b', 'c'].entries()) {
  const spec = { title: 'Several words: "quoted" # and more', size: index, tags: ['yes', '1', 'x y'] };
  await server.call(widgets, { method: 'POST', body: { metadata: { name, annotations: { a: 'l1\nl2\n' } }, spec } });
}

test('objects, lists, tables and documents hold in YAML what they hold in JSON', async (t) => {
  for (const path of [
    `${widgets}/a`,
    widgets,
    `${widgets}?limit=1`,
    '/apis',
    '/apis/example.com/v1alpha1',
    '/version',
  ]) {
    const { yaml: one, json } = await both(path);
    t.equal(one.status, 200);
    t.equal(one.type, yaml, path);
    t.equal(one.headers.get('etag'), null);
    t.match(one.headers.get('vary'), /Accept/u);
    t.strictSame(one.body, json.body, path);
  }
  const { yaml: table, json } = await both(`${widgets}?includeObject=Object`, ';as=Table;g=meta.k8s.io;v=v1');
  t.equal(table.body.kind, 'Table');
  t.strictSame(table.body.rows?.length, json.body.rows?.length);
  t.match(
    (await asked(`${widgets}/a`)).text,
    /^apiVersion: example.com\/v1alpha1\nkind: Widget\nmetadata:\n {2}resourceV/u,
  );
});

test('the preferred type of the two is that of the response, and others are JSON', async (t) => {
  const typeOf = async (accept: string) => (await asked(`${widgets}/a`, accept)).type;
  t.equal(await typeOf('application/yaml, application/json'), yaml);
  t.equal(await typeOf('application/json, application/yaml'), 'application/json');
  t.equal(await typeOf('*/*, application/yaml;q=0.9'), 'application/json');
  t.equal(await typeOf('application/json;q=0.5, application/yaml'), yaml);
  t.equal(await typeOf('application/yaml;q=0'), 'application/json');
  t.equal(await typeOf('text/yaml'), 'application/json');
});

test('errors are a Status in YAML', async (t) => {
  const missing = await asked(`${widgets}/none`);
  t.match(missing, { status: 404, type: yaml, body: { kind: 'Status', reason: 'NotFound', code: 404 } });
  const problem = await asked(`${widgets}/none`, `${yaml}, application/problem+json`);
  t.equal(problem.type, 'application/problem+json');
});

test('the tag of an object does not stand for its YAML', async (t) => {
  const headers = { 'if-none-match': (await server.call(`${widgets}/a`)).headers.get('etag') ?? '' };
  t.equal((await asked(`${widgets}/a`, yaml, { headers })).status, 200);
  t.equal((await asked(`${widgets}/a`, 'application/json', { headers })).status, 304);
});

test('writes answer in YAML, and keep their status and location', async (t) => {
  const body = { metadata: { name: 'written' }, spec: { title: 'x'.repeat(100) } };
  const created = await asked(widgets, yaml, { method: 'POST', body });
  t.match(created, { status: 201, type: yaml, body: { kind: 'Widget', spec: body.spec } });
  t.equal(created.headers.get('location'), `${widgets}/written`);
  const deleted = await asked(`${widgets}/written`, yaml, { method: 'DELETE' });
  t.match(deleted, { status: 200, type: yaml, body: { kind: 'Widget' } });
});

test('a watch is JSON, also for a client that accepts YAML only', async (t) => {
  const path = `${widgets}?watch=true`;
  const opened = async (accept: string) =>
    ask(server.url, path, { headers: { authorization: adminAuthorization, accept }, headOnly: true });
  for (const accept of [yaml, `${yaml}, application/json`]) {
    const { status, headers } = await opened(accept);
    t.strictSame([status, headers['content-type']], [200, 'application/json'], accept);
  }
});

test('a long list in YAML is streamed', async (t) => {
  const many = 1_200;
  for (let start = 0; start < many; start += 100)
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) =>
        server.call(widgets, {
          method: 'POST',
          body: { metadata: { name: `m${String(start + index)}` }, spec: { title: 'many' } },
        }),
      ),
    );
  const { yaml: one, json } = await both(widgets);
  t.equal(one.headers.get('transfer-encoding'), 'chunked');
  t.equal(one.body.items?.length, many + 3);
  t.strictSame(one.body, json.body);
});
