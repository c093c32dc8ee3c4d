import { test } from 'tap';

import { packageOf } from '../packages/archives.ts';
import { dryRun, install, upgrade } from '../packages/package-requests.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { alpha, callsTo, modules, partsFolder, stable, writeParts } from './gadget-plugin.ts';

const files = (module: string) => ({ 'main.js': module, 'package.json': '{"type":"module"}' });
const packed = (version: string, module: string): Buffer =>
  packageOf('parts', { version, files: files(module), more: '  main: main.js\n' });

test('an older plugin is refused if an object is stored in a version that it does not declare', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const { create, get, patch, call } = callsTo(server);
  t.match(await install(server, packed('1.0.0', modules.old)), { status: 201 });
  t.match(await create(alpha, 'lamp', { title: 'Lamp' }), { status: 201 });
  const upgraded = await dryRun(server, packed('2.0.0', modules.both), 'parts');
  t.match(upgraded.body['status'].upgrade, { removedVersions: [], objects: [{ stored: 1, invalid: 0 }], invalid: [] });
  t.match(await upgrade(server, 'parts', packed('2.0.0', modules.both)), { status: 200 });
  t.match(await get(`${stable}/lamp`), { body: { spec: { name: 'Lamp' } } });
  t.match(
    await upgrade(server, 'parts', packed('1.0.0', modules.old)),
    { status: 200 },
    'the object still has v1alpha1',
  );
  t.match(await get(`${alpha}/lamp`), { body: { spec: { title: 'Lamp' } } });

  t.match(await upgrade(server, 'parts', packed('2.0.0', modules.both)), { status: 200 });
  t.match(await patch(`${stable}/lamp`, { name: 'Torch' }), { status: 200 });
  const older = packed('1.5.0', modules.old);
  const message = /parts.parts.example are stored in parts.example\/v1, which version 1.5.0 .* does not declare/;
  for (const answer of [await upgrade(server, 'parts', older), await dryRun(server, older, 'parts')])
    t.match(answer, { status: 422, body: { errors: [{ pointer: '/file', detail: message }] } });
  t.match(await get(`${alpha}/lamp`), { body: { spec: { title: 'Torch' } } }, 'the newer plugin still runs');
  t.match(await upgrade(server, 'parts', packed('1.9.0', modules.both)), { status: 200 }, 'it declares v1');
  t.match(await call('DELETE', `${alpha}/lamp`), { status: 200 });
  t.match(await upgrade(server, 'parts', older), { status: 200 }, 'no stored object has v1 any more');
});

test('a package is refused if it converts, and does not declare the version of a stored object', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const { create, get, patch } = callsTo(server);
  t.match(await install(server, packed('1.0.0', modules.old)), { status: 201 });
  t.match(await create(alpha, 'lamp', { title: 'Lamp' }), { status: 201 });
  const dropping = packed('2.0.0', modules.both.replaceAll('v1alpha1', 'v1beta1'));
  const detail =
    'the package is refused: objects of parts.parts.example are stored in parts.example/v1alpha1, which the package ' +
    'does not declare; declare the version in versions, with served: false if clients no longer use it, and its ' +
    'conversion in convert';
  for (const answer of [await upgrade(server, 'parts', dropping), await dryRun(server, dropping, 'parts')])
    t.match(answer, { status: 422, body: { message: detail } });
  t.match(await get(`${alpha}/lamp`), { status: 200 });
  t.match(await patch(`${alpha}/lamp`, { title: 'Torch' }), { status: 200 }, 'the present plugin still runs');
  t.match(await upgrade(server, 'parts', packed('2.0.0', modules.both)), { status: 200 });
  t.match(await patch(`${stable}/lamp`, { name: 'Candle' }), { status: 200 });
  const bare = packed('3.0.0', modules.bare);
  t.match(await upgrade(server, 'parts', bare), { status: 200 }, 'without convert only apiVersion is exchanged');
});

test('an older folder is refused at the start in the same way, and a newer one serves the objects again', async (t) => {
  const folder = await partsFolder();
  await writeParts(folder, modules.both, '2.0.0');
  const newer = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.match(await callsTo(newer).create(stable, 'lamp', { name: 'Lamp' }), { status: 201 });
  await writeParts(folder, modules.old, '1.5.0');
  const older = await newer.restart();
  const plugin = await callsTo(older).get('/apis/plugin.svc.run/v1alpha1/plugins/parts');
  const message = /parts.parts.example are stored in parts.example\/v1, which version 1.5.0 .* does not declare/;
  t.match(plugin.body, {
    status: { phase: 'failed', conditions: [{ type: 'Ready', reason: 'VersionsMissing', message }] },
  });
  t.match(await callsTo(older).create(alpha, 'chair', { title: 'Chair' }), { status: 404 }, 'nothing is written');
  await writeParts(folder, modules.both, '2.0.1');
  const again = await older.restart();
  t.teardown(async () => again.remove());
  t.match(await callsTo(again).get(`${alpha}/lamp`), { status: 200, body: { spec: { title: 'Lamp' } } });
  t.match(await callsTo(again).call('DELETE', `${stable}/lamp`), { status: 200 });
  await writeParts(folder, modules.old, '1.6.0');
  const last = await again.restart();
  t.teardown(async () => last.remove());
  t.match(await callsTo(last).create(alpha, 'chair', { title: 'Chair' }), { status: 201 }, 'no stored object has v1');
});
