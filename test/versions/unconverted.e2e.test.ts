import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';
import { alpha, callsTo, modules, partsFolder, stable, writeParts, type Body } from './gadget-plugin.ts';

test('an object that cannot be converted is shown as it is stored, and is a condition of the plugin', async (t) => {
  const folder = await partsFolder();
  await writeParts(folder, modules.old, '1.0.0');
  const older = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  for (const title of ['Lamp', 'unconvertible'])
    t.match(await callsTo(older).create(alpha, title.toLowerCase(), { title }), { status: 201 });
  await writeParts(folder, modules.both, '2.0.0');
  const server = await older.restart();
  t.teardown(async () => server.remove());
  const { get, patch, call } = callsTo(server);
  const broken = { apiVersion: 'parts.example/v1alpha1', spec: { title: 'unconvertible' } };
  for (const path of [stable, alpha]) t.match(await get(`${path}/unconvertible`), { status: 200, body: broken });
  t.match((await get(`${stable}?sort=metadata.name`)).body, {
    items: [{ apiVersion: 'parts.example/v1', spec: { name: 'Lamp' } }, broken],
  });
  const plugin = await get('/apis/plugin.svc.run/v1alpha1/plugins/parts');
  const conditions = (plugin.body['status'] as { conditions: readonly Record<string, unknown>[] }).conditions;
  t.match(
    conditions.filter(({ type }) => type === 'ObjectsUnconverted'),
    [
      {
        status: 'True',
        reason: 'ConversionFailing',
        message: /parts.parts.example: .*"unconvertible".* threw: boom \(at main\.mjs:\d+\)/,
      },
    ],
  );
  t.match(await patch(`${stable}/unconvertible`, { size: 2 }), { status: 400 }, 'it has another version');
  const { metadata } = (await get(`${stable}/unconvertible`)).body;
  const repaired: Partial<Body> = { apiVersion: 'parts.example/v1', kind: 'Part', metadata, spec: { name: 'Fixed' } };
  t.match(await call('PUT', `${stable}/unconvertible`, repaired), { status: 200, body: { spec: { name: 'Fixed' } } });
  t.match(await call('DELETE', `${alpha}/unconvertible`), { status: 200, body: { spec: { title: 'Fixed' } } });
});
