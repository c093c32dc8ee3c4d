import t, { test } from 'tap';

import { startTestServer, type CallInit } from '../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';

type Body = {
  apiVersion: string;
  kind: string;
  reason?: string;
  code?: number;
  message?: string;
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
  metadata: {
    name: string;
    uid: string;
    version: number;
    resourceVersion: string;
    generation: number;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
  };
};

async function call(path: string, init?: CallInit): Promise<{ status: number; headers: Headers; body: Body }> {
  const response = await server.call(path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

function widget(name: string, more: object = {}): object {
  return {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Widget',
    metadata: { name },
    spec: { title: 'A widget' },
    ...more,
  };
}

async function made(name: string, more: object = {}): Promise<Body> {
  const { status, body } = await call(widgets, { method: 'POST', body: widget(name, more) });
  if (status !== 201) throw new Error(`${name} was not made: ${JSON.stringify(body)}`);
  return body;
}

/** The entity tag of an object with this version: with the served version, and the digest of the declaration. */
function tagOf(version: number): RegExp {
  return new RegExp(`^"${String(version)}-v1alpha1-[0-9a-f]{8}"$`, 'u');
}

test('a create answers 201 with location and entity tag, and the object reads back byte for byte', async (t) => {
  const response = await server.call(widgets, { method: 'POST', body: widget('created') });
  const created = await response.text();
  t.equal(response.status, 201);
  t.equal(response.headers.get('location'), `${widgets}/created`);
  t.match(response.headers.get('etag'), tagOf(0));
  t.equal(response.headers.get('content-type'), 'application/json');
  const read = await server.call(`${widgets}/created`);
  t.equal(await read.text(), created);
  t.equal(read.headers.get('etag'), response.headers.get('etag'));
  t.equal(read.headers.get('x-content-type-options'), 'nosniff');
});

test('a body without a Content-Type is JSON, and a create may omit apiVersion and kind', async (t) => {
  const response = await fetch(server.url + widgets, {
    method: 'POST',
    headers: await admin(),
    body: Buffer.from(JSON.stringify({ metadata: { name: 'bare' }, spec: { title: 'x' } })),
  });
  t.equal(response.status, 201);
});

test('refused creates have the fitting reason', async (t) => {
  await made('taken', { spec: { title: 'x', serial: 'S1' } });
  const cases: readonly (readonly [string, CallInit, number, string])[] = [
    ['a taken name', { body: widget('taken') }, 409, 'AlreadyExists'],
    [
      'a taken unique value',
      { body: widget('other', { spec: { title: 'x', serial: 'S1' } }) },
      409,
      'UniqueValueTaken',
    ],
    ['a broken schema', { body: widget('bad', { spec: { size: 'big' } }) }, 422, 'Invalid'],
    ['a bad name', { body: widget('Bad_Name') }, 422, 'Invalid'],
    [
      'a resourceVersion',
      { body: widget('rv', { metadata: { name: 'rv', resourceVersion: '1' } }) },
      400,
      'BadRequest',
    ],
    ['another kind', { body: widget('kind', { kind: 'Gadget' }) }, 400, 'BadRequest'],
    ['no object', { body: '[]' }, 400, 'BadRequest'],
    ['no JSON', { body: '{"a":' }, 400, 'BadRequest'],
    ['an empty body', { body: '' }, 400, 'BadRequest'],
    ['a duplicate key', { body: '{"metadata":{"name":"a","name":"b"}}' }, 400, 'BadRequest'],
    [
      'another media type',
      { body: widget('media'), headers: { 'content-type': 'text/plain' } },
      415,
      'UnsupportedMediaType',
    ],
    [
      'another charset',
      { body: widget('charset'), headers: { 'content-type': 'application/json; charset=latin1' } },
      415,
      'UnsupportedMediaType',
    ],
    ['an encoded body', { body: widget('gzip'), headers: { 'content-encoding': 'gzip' } }, 415, 'UnsupportedMediaType'],
  ];
  for (const [what, init, status, reason] of cases) {
    const answer = await call(widgets, { method: 'POST', ...init });
    t.match([answer.status, answer.body.reason], [status, reason], what);
  }
});

test('a PUT replaces, a stale one conflicts, and one without a version overwrites', async (t) => {
  const first = await made('put');
  const next = { ...first, spec: { title: 'Changed' } };
  const replaced = await call(`${widgets}/put`, { method: 'PUT', body: next });
  t.match([replaced.status, replaced.headers.get('etag'), replaced.body.metadata.generation], [200, tagOf(1), 2]);
  t.match(await call(`${widgets}/put`, { method: 'PUT', body: next }), { status: 409, body: { reason: 'Conflict' } });
  t.match(await call(`${widgets}/put`, { method: 'PUT', body: widget('put', { spec: { title: 'Again' } }) }), {
    status: 200,
    body: { metadata: { version: 2 } },
  });
  t.match(
    await call(`${widgets}/put`, { method: 'PUT', body: widget('put', { spec: { title: 'Again' } }) }),
    { status: 200, body: { metadata: { version: 2 } } },
    'no change, no event',
  );
  t.match(await call(`${widgets}/put`, { method: 'PUT', body: widget('another') }), { status: 400 });
  t.match(
    await call(`${widgets}/nobody`, { method: 'PUT', body: '{' }),
    { status: 404 },
    '404 precedes the reading of the body',
  );
});

test('If-Match and If-None-Match hold on reads and writes', async (t) => {
  await made('conditional');
  const path = `${widgets}/conditional`;
  const body = widget('conditional', { spec: { title: 'Changed' } });
  t.equal((await call(path, { method: 'PUT', body, headers: { 'if-match': '"7"' } })).status, 412);
  t.equal((await call(path, { method: 'PUT', body, headers: { 'if-none-match': '*' } })).status, 412);
  t.equal((await call(path, { method: 'PUT', body, headers: { 'if-match': '"0", "7"' } })).status, 200);
  t.equal(
    (await call(path, { method: 'DELETE', headers: { 'if-match': 'W/"1"' } })).status,
    412,
    'a weak tag never matches',
  );
  t.equal((await call(path, { headers: { 'if-match': '"0"' } })).status, 412);
  t.equal((await call(path, { headers: { 'if-match': '*' } })).status, 200);
  const tag = (await call(path)).headers.get('etag') ?? '';
  const known = await server.call(path, { headers: { 'if-none-match': `"9", W/${tag}` } });
  t.match([known.status, known.headers.get('etag'), await known.text()], [304, tag, '']);
  for (const other of ['"0"', '"1"', tag.replace('v1', 'v2'), tag.replace(/.{8}"$/u, '00000000"')])
    t.equal((await call(path, { headers: { 'if-none-match': other } })).status, 200, other);
  t.equal((await call(path, { headers: { 'if-match': tag } })).status, 200);
  const put = async (headers: Record<string, string>) => (await call(path, { method: 'PUT', body, headers })).status;
  t.equal(await put({ 'if-match': '"0-v1-00000000"' }), 412);
  t.equal(await put({ 'if-match': '"1-v2-00000000"' }), 200, 'only the version of the object is compared');
  t.equal(await put({ 'if-none-match': '"1-v2-00000000"' }), 412);
});

test('patches are JSON Patch or merge patch; other media types are refused with the accepted ones', async (t) => {
  await made('patched', { spec: { title: 'x', tags: ['a'] } });
  const path = `${widgets}/patched`;
  const merge = await call(path, {
    method: 'PATCH',
    body: { spec: { size: 3 } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.match(merge, { status: 200, body: { spec: { title: 'x', size: 3 } } });
  const operations = [
    { op: 'test', path: '/spec/size', value: 3 },
    { op: 'add', path: '/spec/tags/-', value: 'b' },
  ];
  t.match(
    await call(path, { method: 'PATCH', body: operations, headers: { 'content-type': 'application/json-patch+json' } }),
    { status: 200, body: { spec: { tags: ['a', 'b'] } } },
  );
  t.equal(
    (
      await call(path, {
        method: 'PATCH',
        body: [{ op: 'test', path: '/spec/size', value: 4 }],
        headers: { 'content-type': 'application/json-patch+json' },
      })
    ).status,
    422,
  );
  t.equal(
    (await call(path, { method: 'PATCH', body: {}, headers: { 'content-type': 'application/json-patch+json' } }))
      .status,
    400,
  );
  for (const type of [
    'application/json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    'text/plain',
  ]) {
    const refused = await call(path, { method: 'PATCH', body: {}, headers: { 'content-type': type } });
    t.match(
      [refused.status, refused.headers.get('accept-patch')],
      [415, 'application/json-patch+json, application/merge-patch+json'],
      type,
    );
  }
});

test('DELETE answers with the marked object, and a later GET is 404', async (t) => {
  const { metadata } = await made('deleted', { metadata: { name: 'deleted', finalizers: ['example.com/hold'] } });
  const path = `${widgets}/deleted`;
  t.match(await call(path, { method: 'DELETE', body: { preconditions: { uid: 'another' } } }), {
    status: 409,
    body: { reason: 'Conflict' },
  });
  t.match(await call(path, { method: 'DELETE', body: { propagationPolicy: 'Sideways' } }), { status: 422 });
  t.match(await call(path, { method: 'DELETE', body: { dryRun: ['All'] } }), { status: 200 });
  t.equal((await call(path)).body.metadata.deletionTimestamp, undefined, 'a dry run marks nothing');
  const marked = await call(path, {
    method: 'DELETE',
    body: { propagationPolicy: 'Background', preconditions: { uid: metadata.uid } },
  });
  t.match([marked.status, typeof marked.body.metadata.deletionTimestamp], [200, 'string']);
  const again = await call(path, { method: 'DELETE', headers: { 'content-type': 'application/json' } });
  t.match(
    [again.status, again.body.metadata.deletionTimestamp],
    [200, marked.body.metadata.deletionTimestamp],
    'again, with an empty body',
  );
  await call(path, {
    method: 'PATCH',
    body: { metadata: { finalizers: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  let status = 200;
  for (let tries = 0; tries < 1_000 && status === 200; tries += 1) status = (await call(path)).status;
  t.equal(status, 404);
});

test('the status subresource writes the status only, and writes of the object keep it', async (t) => {
  await made('stated');
  const path = `${widgets}/stated`;
  const stated = await call(`${path}/status`, {
    method: 'PUT',
    body: widget('stated', { spec: { title: 'ignored' }, status: { phase: 'Ready' } }),
  });
  t.match(
    [stated.status, stated.body.spec['title'], stated.body.status?.['phase'], stated.body.metadata.generation],
    [200, 'A widget', 'Ready', 1],
  );
  await call(path, {
    method: 'PATCH',
    body: { status: { phase: 'Broken' } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.equal((await call(`${path}/status`)).body.status?.['phase'], 'Ready');
  const refused = await call(`${path}/status`, { method: 'DELETE' });
  t.match([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, PUT, PATCH']);
});

test('a dry run checks and answers like a write, and stores nothing', async (t) => {
  const dry = await call(`${widgets}?dryRun=All`, { method: 'POST', body: widget('dry') });
  t.match([dry.status, dry.body.metadata.name, dry.body.metadata.resourceVersion], [201, 'dry', undefined]);
  t.equal((await call(`${widgets}/dry`)).status, 404);
  t.match(await call(`${widgets}?dryRun=Some`, { method: 'POST', body: widget('dry') }), {
    status: 422,
    body: { reason: 'Invalid' },
  });
});

test('a dry run of a change has the stored resourceVersion, and the version of the real write', async (t) => {
  const made = (await call(widgets, { method: 'POST', body: widget('tried') })).body.metadata;
  const path = `${widgets}/tried`;
  const changes: readonly (readonly [method: string, body: object | undefined, version: number])[] = [
    ['PUT', widget('tried', { spec: { title: 'other' } }), 1],
    ['PATCH', { spec: { title: 'other' } }, 1],
    ['PATCH', { metadata: { labels: {} } }, 0],
    ['DELETE', undefined, 2],
  ];
  for (const [method, body, version] of changes) {
    const { status, body: answer } = await call(`${path}?dryRun=All`, {
      method,
      ...(body === undefined ? {} : { body }),
      ...(method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {}),
    });
    t.match(
      [status, answer.metadata],
      [200, { resourceVersion: made.resourceVersion, version, uid: made.uid }],
      method,
    );
  }
  t.strictSame((await call(path)).body.metadata, made);
});

test('fieldValidation decides about unknown fields', async (t) => {
  const body = widget('fields', { spec: { title: 'x', colour: 'red' } });
  t.match(await call(widgets, { method: 'POST', body }), { status: 422 });
  t.match(await call(`${widgets}?fieldValidation=Strict`, { method: 'POST', body }), { status: 400 });
  t.match(await call(`${widgets}?fieldValidation=Loose`, { method: 'POST', body }), { status: 422 });
  const warned = await call(`${widgets}?fieldValidation=Warn`, { method: 'POST', body });
  t.match([warned.status, warned.headers.get('warning')], [201, '299 - "unknown field \\"spec.colour\\""']);
});

test('a GET waits for a resourceVersion, and times out on one that never comes', async (t) => {
  const { metadata } = await made('fresh');
  t.equal((await call(`${widgets}/fresh?resourceVersion=${metadata.resourceVersion}`)).status, 200);
  t.equal((await call(`${widgets}/fresh?resourceVersion=0`)).status, 200);
  t.equal((await call(`${widgets}/fresh?resourceVersion=abc`)).status, 400);
  t.match(await call(`${widgets}/fresh?resourceVersion=999999999`), {
    status: 504,
    body: { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
  });
});

test('impossible names are not found, in every spelling', async (t) => {
  for (const name of ['Upper', '-', 'a'.repeat(300), '%C3%A9', 'a%20b', '%E2%80%AE', 'a%0Ab']) {
    t.equal((await call(`${widgets}/${name}`)).status, 404, name);
    t.equal((await call(`${widgets}/${name}`, { method: 'DELETE' })).status, 404, name);
  }
});

test('HEAD answers like GET, without the body', async (t) => {
  await made('headed');
  const [get, head] = [
    await server.call(`${widgets}/headed`),
    await server.call(`${widgets}/headed`, { method: 'HEAD' }),
  ];
  t.equal(head.status, 200);
  t.equal(head.headers.get('content-length'), String((await get.arrayBuffer()).byteLength));
  t.equal(head.headers.get('etag'), get.headers.get('etag'));
  t.equal(await head.text(), '');
  t.equal((await server.call(`${widgets}/nobody`, { method: 'HEAD' })).status, 404);
});

async function admin(): Promise<Record<string, string>> {
  const { adminAuthorization } = await import('../support/server/start-server.ts');
  return { authorization: adminAuthorization };
}
