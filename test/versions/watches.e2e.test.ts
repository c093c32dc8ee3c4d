import { test, type Test } from 'tap';

import { adminAuthorization, startTestServer, type TestServer } from '../support/server/start-server.ts';
import { transports, Watching, type Transport, type WatchedEvent } from '../support/watching.ts';
import { alpha, callsTo, modules, partsFolder, stable, writeParts } from './gadget-plugin.ts';

async function watching(t: Test, server: TestServer, path: string, transport: Transport): Promise<Watching> {
  const watch = await Watching.open(server.url, path, { transport, headers: { authorization: adminAuthorization } });
  t.teardown(() => {
    watch.leave();
  });
  return watch;
}

const shown = ({ type, object }: WatchedEvent) => [type, object['apiVersion'], object['spec']];

const versions = [
  { path: alpha, apiVersion: 'parts.example/v1alpha1', member: 'title' },
  { path: stable, apiVersion: 'parts.example/v1', member: 'name' },
] as const;

for (const transport of transports)
  test(`watches over ${transport} speak the version of the path, from the log and live`, async (t) => {
    const folder = await partsFolder();
    await writeParts(folder, modules.old, '1.0.0');
    const older = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
    const created = await callsTo(older).create(alpha, 'lamp', { title: 'Lamp' });
    const before = BigInt(created.body.metadata.resourceVersion) - 1n;
    await writeParts(folder, modules.both, '2.0.0');
    const server = await older.restart();
    t.teardown(async () => server.remove());
    const calls = callsTo(server);
    const query = (more = '') =>
      `resourceVersion=${before.toString()}${more}${transport === 'json' ? '&watch=true' : ''}`;
    const watches = await Promise.all(
      versions.map(async ({ path }) => ({
        all: await watching(t, server, `${path}?${query()}`, transport),
        torches: await watching(t, server, `${path}?${query('&fieldSelector=spec.name=Torch')}`, transport),
      })),
    );
    t.match(await calls.patch(`${alpha}/lamp`, { title: 'Torch' }), { status: 200 });
    t.match(await calls.patch(`${stable}/lamp`, { name: 'Lamp' }), { status: 200 });
    for (const [place, { apiVersion, member }] of versions.entries()) {
      const { all, torches } = watches[place]!;
      await all.until(({ events }) => events.length === 3);
      t.same(all.events.map(shown), [
        ['ADDED', apiVersion, { size: 1, [member]: 'Lamp' }],
        ['MODIFIED', apiVersion, { size: 1, [member]: 'Torch' }],
        ['MODIFIED', apiVersion, { size: 1, [member]: 'Lamp' }],
      ]);
      await torches.until(({ events }) => events.length === 2);
      t.same(torches.events.map(shown), [
        ['ADDED', apiVersion, { size: 1, [member]: 'Torch' }],
        ['DELETED', apiVersion, { size: 1, [member]: 'Torch' }],
      ]);
    }
  });
