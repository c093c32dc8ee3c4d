import t, { test } from 'tap';

import { requestBodyBytesMax, yamlBodyBytesMax } from '../../../src/limits/requests.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';
import { enveloped, message } from '../../support/kubernetes-protobuf.ts';

const server = await startTestServer();
t.teardown(async () => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';
const yamlType = 'application/yaml';

async function send(method: string, path: string, body: string | Uint8Array, contentType = yamlType) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': contentType },
    body,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const read = async (name: string) => {
  const response = await fetch(`${server.url}${widgets}/${name}`, { headers: { authorization: adminAuthorization } });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

test('an object is created and replaced from YAML', async (t) => {
  const made = await send(
    'POST',
    widgets,
    `# a widget
apiVersion: example.com/v1alpha1
kind: Widget
metadata:
  name: lamp
  annotations: &notes
    day: 2026-01-01
    "on": yes
spec:
  title: >-
    A lamp
    on a desk
  size: 0x10
  tags: [a, "1"]
`,
  );
  t.equal(made.status, 201);
  t.match(made.body, {
    metadata: { name: 'lamp', annotations: { day: '2026-01-01', on: 'yes' } },
    spec: { title: 'A lamp on a desk', size: 16, tags: ['a', '1'] },
  });
  const whole = 'apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata: {name: lamp}\nspec: {title: "Other"}';
  const replaced = await send('PUT', `${widgets}/lamp`, whole);
  t.match(replaced, { status: 200, body: { spec: { title: 'Other' } } });
  t.match(await read('lamp'), { status: 200, body: { spec: { title: 'Other' } } });
});

test('fieldValidation applies to YAML as to JSON', async (t) => {
  const text = 'metadata: {name: odd}\nspec: {title: x, colour: red}';
  t.equal((await send('POST', `${widgets}?fieldValidation=Strict`, text)).status, 400);
  t.equal((await send('POST', widgets, text)).status, 422);
  t.equal((await send('POST', `${widgets}?fieldValidation=Warn`, text)).status, 201);
});

test('a review and the options of a deletion may be YAML', async (t) => {
  const review = await send(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'spec: {resourceAttributes: {verb: get, resource: users}}',
  );
  t.match(review, { status: 201, body: { status: { allowed: true } } });
  await send('POST', widgets, 'metadata: {name: short}\nspec: {title: x}');
  const refused = await send('DELETE', `${widgets}/short`, 'preconditions: {uid: other}');
  t.equal(refused.status, 409);
  t.match(await send('DELETE', `${widgets}/short`, 'dryRun: [All]'), { status: 200 });
  t.equal((await read('short')).status, 200);
  t.equal((await send('DELETE', `${widgets}/short`, 'propagationPolicy: Background')).status, 200);
});

test('the options of a deletion may be protobuf, as typed Go clients send them', async (t) => {
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const options = { apiVersion: 'example.com/v1alpha1', kind: 'DeleteOptions' };
  const { body } = await send('POST', widgets, 'metadata: {name: typed}\nspec: {title: x}');
  const kept = enveloped(
    options,
    message([
      [1, 0],
      [2, message([[1, 'other']])],
      [4, 'Background'],
    ]),
  );
  t.match(await send('DELETE', `${widgets}/typed`, kept, protobuf), { status: 409 });
  t.match(await send('DELETE', `${widgets}/typed`, enveloped(options, message([[5, 'All']])), protobuf), {
    status: 200,
  });
  t.equal((await read('typed')).status, 200);
  const wrong = await send('DELETE', `${widgets}/typed`, enveloped({ kind: 'Pod' }, message([])), protobuf);
  t.match(wrong, { status: 400, body: { message: /the kind of the body must be "DeleteOptions", is "Pod"/u } });
  const matching = message([
    [2, message([[1, body.metadata.uid]])],
    [3, 0],
    [4, 'Background'],
  ]);
  t.equal((await send('DELETE', `${widgets}/typed`, enveloped(options, matching), protobuf)).status, 200);
  t.equal((await read('typed')).status, 404);
});

const laughs = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
for (let level = 1; level < 9; level += 1)
  laughs.push(`a${String(level)}: &a${String(level)} [${`*a${String(level - 1)},`.repeat(10)}]`);

test('YAML that two readers could understand differently, or that grows, is refused with the reason', async (t) => {
  const head = 'metadata: {name: refused}\n';
  const cases: readonly (readonly [text: string | Uint8Array, status: number, reason: RegExp])[] = [
    ['', 400, /the body is empty/u],
    ['# nothing', 400, /must be a JSON object/u],
    ['- a', 400, /must be a JSON object/u],
    [Uint8Array.of(0x61, 0x3a, 0x20, 0xff), 400, /not valid UTF-8/u],
    [
      `${head}spec: {title: a, title: b}`,
      400,
      /the key "title" appears twice in one object \(\/spec\/title\), at line 2, column 18/u,
    ],
    [`${head}spec: {title: a}\n"spec": {}`, 400, /the key "spec" appears twice/u],
    [`${head}---\n${head}`, 400, /several documents, at line 2/u],
    [`${head}1: a`, 400, /the key 1 is not a string: write the key in quotes/u],
    [`${head}? [a, b]\n: c`, 400, /a key must be a string/u],
    [`${head}<<: {spec: {}}`, 400, /merge keys/u],
    [`${head}__proto__: {}`, 400, /"__proto__" is not allowed/u],
    [`${head}spec: {title: !!js/function "x"}`, 400, /Unresolved tag: tag:yaml\.org,2002:js\/function/u],
    [`${head}spec: {title: !!binary aGk=}`, 400, /Unresolved tag/u],
    [`${head}spec: {title: !!timestamp 2026-01-01}`, 400, /Unresolved tag/u],
    [`${head}spec: {size: .nan}`, 400, /cannot represent this number \(\/spec\/size\)/u],
    [`${head}spec: {size: -.inf}`, 400, /cannot represent this number/u],
    [`${head}spec: {size: 1e999}`, 400, /cannot represent this number/u],
    [`%YAML 1.1\n---\n${head}`, 400, /only YAML 1\.2/u],
    [`${head}spec: *gone`, 400, /no anchor precedes the alias "gone"/u],
    [`${head}spec: &a {b: *a}`, 400, /refers to a value that contains the alias/u],
    [`${head}${laughs.join('\n')}`, 400, /aliases expand the body to more than/u],
    [`${head}spec: ${'['.repeat(5_000)}`, 400, /nests deeper than 128 levels/u],
    [`${head}spec: ${'{a: '.repeat(129)}1${'}'.repeat(129)}`, 400, /nests deeper than 128 levels/u],
    [`${head}spec:\n\t- a`, 400, /Tabs are not allowed as indentation, at line 3, column 1/u],
    [`${head}spec: {title: "${'\\u0001'.repeat(30_000)}"}`, 422, /./u],
    [`${head}#${'x'.repeat(yamlBodyBytesMax)}`, 413, /at most 262144 bytes/u],
  ];
  for (const [text, status, reason] of cases) {
    const what = Buffer.from(text).toString().slice(0, 80);
    const refused = await send('POST', widgets, text);
    t.equal(refused.status, status, what);
    t.match(refused.body.message, reason, what);
  }
  t.equal((await read('refused')).status, 404, 'nothing is written');
});

test('each alias is replaced by the value of its anchor at that place', async (t) => {
  const made = await send(
    'POST',
    widgets,
    'metadata: {name: aliased, labels: {a: &x one, b: *x}, annotations: {c: &x two, d: *x}}\nspec: {title: *x}',
  );
  t.match(made, {
    status: 201,
    body: { metadata: { labels: { a: 'one', b: 'one' }, annotations: { c: 'two', d: 'two' } }, spec: { title: 'two' } },
  });
});

test('YAML whose JSON is longer than a body of JSON is refused', async (t) => {
  const text = `metadata: {name: long}\na: &a "${'\u0001'.repeat(60_000)}"\nb: [*a, *a, *a]`;
  t.ok(6 * 4 * 60_000 > requestBodyBytesMax);
  const refused = await send('POST', widgets, text);
  t.match(refused, { status: 400, body: { message: /the body has more than 1048576 bytes as JSON/u } });
});

test('the largest body is read beside others, which are answered meanwhile', async (t) => {
  const line = '- {name: item, size: 1}\n';
  const head = 'metadata: {name: large}\nspec: {title: x}\nextra:\n';
  const text = head + line.repeat(Math.floor((yamlBodyBytesMax - head.length) / line.length));
  const large = send('POST', widgets, text);
  const order: string[] = [];
  await Promise.all([
    large.then(() => order.push('large')),
    read('large').then(() => order.push('read')),
    send('POST', widgets, '{}', 'application/json').then(() => order.push('json')),
  ]);
  t.equal(order.at(-1), 'large');
  t.equal((await large).status, 422);
});

test('a patch is never YAML, and other media types are refused with the accepted ones', async (t) => {
  t.equal((await send('PATCH', `${widgets}/lamp`, 'spec: {title: patched}')).status, 415);
  t.equal((await send('PATCH', `${widgets}/lamp`, 'spec: {}', 'application/apply-patch+yaml')).status, 415);
  for (const type of ['text/yaml', 'application/x-yaml', 'application/cbor', 'text/plain', 'application/yamll']) {
    const refused = await send('POST', widgets, '{}', type);
    t.match(refused, {
      status: 415,
      body: { message: `the body must be application/json or application/yaml, is "${type}"` },
    });
  }
  t.equal((await send('POST', widgets, 'a: 1', 'application/yaml; charset=utf-8')).status, 422);
  t.equal((await send('POST', widgets, 'a: 1', 'application/yaml; charset=latin1')).status, 415);
});
