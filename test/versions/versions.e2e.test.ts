import { test, type Test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { alpha, callsTo, modules, partsFolder, stable, writeParts, type Body } from './gadget-plugin.ts';

/** A server whose objects were written by an older plugin, which has v1alpha1 only. */
async function upgraded(t: Test, module = modules.both): Promise<TestServer> {
  const folder = await partsFolder();
  await writeParts(folder, modules.old, '1.0.0');
  const environment = { PLUGINS_DIRS: folder };
  const before = await startTestServer({ environment });
  const calls = callsTo(before);
  for (const [name, title] of [
    ['lamp', 'Lamp'],
    ['chair', 'Chair'],
  ] as const)
    t.match(await calls.create(alpha, name, { title, size: 3 }), { status: 201 });
  await writeParts(folder, module, '2.0.0');
  const server = await before.restart();
  t.teardown(async () => server.remove());
  return server;
}

const itemsOf = ({ body }: { readonly body: Body }) =>
  (body['items'] as readonly Body[]).map(({ apiVersion, spec }) => [apiVersion, spec]);

test('reads, lists and tables speak the version of the path', async (t) => {
  const { get } = callsTo(await upgraded(t));
  t.match(await get(`${stable}/lamp`), {
    status: 200,
    body: { apiVersion: 'parts.example/v1', spec: { name: 'Lamp', size: 3 }, metadata: { version: 0 } },
  });
  t.strictSame((await get(`${stable}/lamp`)).body.spec['title'], undefined);
  t.match(await get(`${alpha}/lamp`), { body: { apiVersion: 'parts.example/v1alpha1', spec: { title: 'Lamp' } } });
  t.same(itemsOf(await get(`${stable}?sort=spec.name`)), [
    ['parts.example/v1', { size: 3, name: 'Chair' }],
    ['parts.example/v1', { size: 3, name: 'Lamp' }],
  ]);
  const older = await get(`${alpha}?fieldSelector=spec.name=Lamp`);
  t.match(older.body, { apiVersion: 'parts.example/v1alpha1', kind: 'PartList' });
  t.same(itemsOf(older), [['parts.example/v1alpha1', { size: 3, title: 'Lamp' }]]);
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  for (const path of [stable, alpha]) {
    t.match((await get(`${path}?fieldSelector=spec.name=Lamp`, table)).body, { rows: [{ cells: ['lamp', 'Lamp'] }] });
    t.match((await get(`${path}/lamp`, table)).body, { rows: [{ cells: ['lamp', 'Lamp'] }] });
  }
});

test('a patch in each version changes the stored object, whatever version it has', async (t) => {
  const { get, patch, merge, call } = callsTo(await upgraded(t));
  t.match(await patch(`${stable}/lamp`, { size: 4 }), { status: 200, body: { spec: { name: 'Lamp', size: 4 } } });
  t.match(await patch(`${alpha}/lamp`, { title: 'Torch' }), {
    status: 200,
    body: { apiVersion: 'parts.example/v1alpha1', spec: { title: 'Torch', size: 4 }, metadata: { version: 2 } },
  });
  t.match(await get(`${stable}/lamp`), { body: { apiVersion: 'parts.example/v1', spec: { name: 'Torch', size: 4 } } });
  t.match(await patch(`${alpha}/lamp`, { name: 'Torch' }), { status: 422 }, 'v1alpha1 has no name');
  t.match(await patch(`${alpha}/lamp`, { title: 'Torch' }), { status: 200, body: { metadata: { version: 2 } } });
  const shown = (await get(`${alpha}/chair`)).body;
  t.match(await call('PUT', `${alpha}/chair`, shown), { status: 200, body: { metadata: { version: 0 } } }, 'no change');
  t.match(await call('PUT', `${stable}/chair`, shown), { status: 400 }, 'the version of the path');
  t.match(await merge(`${alpha}/chair/status`, { status: { phase: 'Ready' } }), {
    status: 200,
    body: { apiVersion: 'parts.example/v1alpha1', status: { phase: 'Ready' }, spec: { title: 'Chair' } },
  });
  t.match(await merge(`${alpha}/chair/scale`, { spec: { replicas: 3 } }), { status: 200, body: { kind: 'Scale' } });
  t.match(await get(`${stable}/chair`), {
    body: { spec: { name: 'Chair', replicas: 3 }, status: { phase: 'Ready' } },
  });
  t.match(await call('DELETE', `${alpha}/chair`), { status: 200, body: { apiVersion: 'parts.example/v1alpha1' } });
});

test('creates are checked in their own version, and by hooks and unique values in the preferred one', async (t) => {
  const { create, call, get } = callsTo(await upgraded(t, modules.strict));
  t.match(await create(alpha, 'desk', { title: ' Desk ' }), {
    status: 201,
    body: { apiVersion: 'parts.example/v1alpha1', spec: { title: 'Desk', size: 1 } },
  });
  t.match(await get(`${stable}/desk`), { body: { spec: { name: 'Desk' } } });
  t.match(await create(alpha, 'shelf', { name: 'Shelf' }), { status: 422 });
  t.match(await create(alpha, 'shelf', { title: 'bad' }), {
    status: 422,
    body: { errors: [{ pointer: '/spec/name', detail: 'is bad' }] },
  });
  t.match(await create(alpha, 'copy', { title: 'Lamp' }), { status: 409, body: { reason: 'UniqueValueTaken' } });
  t.match(await create(alpha, 'lamp', { title: 'Other' }), { status: 409, body: { reason: 'AlreadyExists' } });
  t.match(await create(alpha, 'shelf', { title: 'unconvertible' }), { status: 422, body: { message: /threw: boom/ } });
  const dry = await call('POST', `${alpha}?dryRun=All`, { metadata: { name: 'rug' }, spec: { title: 'Rug' } });
  t.match(dry, { status: 201, body: { apiVersion: 'parts.example/v1alpha1', spec: { title: 'Rug' } } });
  const strict = await call('POST', `${alpha}?fieldValidation=Warn`, {
    metadata: { name: 'rug' },
    spec: { title: 'Rug', name: 'x' },
  });
  t.match(strict, { status: 201, body: { spec: { title: 'Rug' } } });
  t.match(strict.headers.get('warning'), /unknown field .*spec\.name/);
});

test('discovery lists the served versions, the preferred one first', async (t) => {
  const { get } = callsTo(await upgraded(t));
  t.match((await get('/apis/parts.example')).body, {
    versions: [{ version: 'v1' }, { version: 'v1alpha1' }],
    preferredVersion: { groupVersion: 'parts.example/v1', version: 'v1' },
  });
  for (const version of ['v1', 'v1alpha1']) {
    t.match((await get(`/apis/parts.example/${version}`)).body, { resources: [{ name: 'parts', kind: 'Part' }] });
    t.equal((await get(`/openapi/v3/apis/parts.example/${version}`)).status, 200);
  }
});

test('history, past states and a restore speak the version of the path', async (t) => {
  const { get, patch, call } = callsTo(await upgraded(t));
  const first = (await get(`${alpha}/lamp`)).body.metadata.resourceVersion;
  await patch(`${alpha}/lamp`, { title: 'Torch' });
  t.match(await get(`${stable}/lamp?at=${first}`), {
    body: { apiVersion: 'parts.example/v1', spec: { name: 'Lamp' }, metadata: { version: 0 } },
  });
  t.match(await get(`${alpha}/lamp?at=${first}`), { body: { spec: { title: 'Lamp' } } });
  const entries = (await get(`${alpha}/lamp/history?include=object&order=oldest`)).body['items'];
  t.match(entries, [
    { object: { apiVersion: 'parts.example/v1alpha1', spec: { title: 'Lamp' } } },
    { object: { apiVersion: 'parts.example/v1alpha1', spec: { title: 'Torch' } } },
  ]);
  t.match(await call('POST', `${alpha}/lamp/restore?at=${first}`), { status: 200, body: { spec: { title: 'Lamp' } } });
  t.match((await get(`${stable}/lamp`)).body.spec, { name: 'Lamp' });
  t.same(itemsOf(await get(`${alpha}?at=${first}`)), [['parts.example/v1alpha1', { title: 'Lamp', size: 3 }]]);
});

test('without conversions only apiVersion is exchanged', async (t) => {
  const { get, patch } = callsTo(await upgraded(t, modules.bare));
  t.match(await get(`${stable}/lamp`), { body: { apiVersion: 'parts.example/v1', spec: { title: 'Lamp' } } });
  t.match(await patch(`${stable}/lamp`, { size: 5 }), { status: 200, body: { apiVersion: 'parts.example/v1' } });
  t.match(await get(`${alpha}/lamp`), { status: 404 });
});

test('every response of a deprecated version has a warning, and no other one has', async (t) => {
  const server = await upgraded(t, modules.deprecated);
  const { get, create, patch, call } = callsTo(server);
  const text = 'parts.example/v1alpha1 Part is deprecated; use parts.example/v1 Part';
  for (const sent of [
    await get(alpha),
    await get(`${alpha}/lamp`),
    await get(`${alpha}/none`),
    await get(`${alpha}?size=x`),
    await get(`${alpha}/lamp/history`),
    await create(alpha, 'desk', { title: 'Desk' }),
    await create(alpha, 'desk', { title: 'Desk' }),
    await patch(`${alpha}/lamp`, { size: 4 }),
    await call('DELETE', `${alpha}/lamp`),
  ])
    t.equal(sent.headers.get('warning'), `299 - "${text}"`, String(sent.status));
  const watch = await server.call(`${alpha}?watch=true`);
  t.equal(watch.headers.get('warning'), `299 - "${text}"`);
  await watch.body?.cancel();
  const tag = (await get(`${alpha}/desk`)).headers.get('etag') ?? '';
  t.match(tag, /^"0-v1alpha1-[0-9a-f]{8}"$/u);
  const known = await server.call(`${alpha}/desk`, { headers: { 'if-none-match': tag } });
  t.match([known.status, known.headers.get('warning')], [304, `299 - "${text}"`]);
  const stableTag = (await get(`${stable}/desk`)).headers.get('etag');
  t.equal(stableTag, tag.replace('v1alpha1', 'v1'));
  t.equal((await server.call(`${stable}/desk`, { headers: { 'if-none-match': tag } })).status, 200);
  t.equal((await call('DELETE', `${stable}/desk`, undefined, { 'if-match': tag })).status, 200, 'the version holds');
  t.equal((await get(stable)).headers.get('warning'), null);
});
