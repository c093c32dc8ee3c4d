import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';

const typeText = (kind: string, references: readonly object[]): string =>
  JSON.stringify({
    group: 'linked.example',
    version: 'v1',
    kind,
    singular: kind.toLowerCase(),
    plural: `${kind.toLowerCase()}s`,
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { group: { type: 'string' }, groups: { type: 'array', items: { type: 'string' } } },
        },
      },
    },
    references,
  });

async function pluginsFolder(types: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-linked-'));
  await mkdir(join(folder, 'linked'));
  await writeFile(join(folder, 'linked', 'main.mjs'), `export default { types: [${types.join(',')}] };\n`);
  const manifest = 'apiVersion: plugin.svc.run/v1alpha1\nkind: Plugin\nmetadata: { name: linked }\n';
  await writeFile(join(folder, 'linked', 'plugin.yaml'), `${manifest}spec: { version: 1.0.0, main: main.mjs }\n`);
  return folder;
}

const to = 'groups.linked.example';

test('references over HTTP: 422 for a missing object, 409 for a named one, and a cascade', async (t) => {
  const types = [
    typeText('Group', []),
    typeText('Link', [{ field: 'spec.group', to, onMissing: 'refuse', onDelete: 'cascade' }]),
    typeText('Pin', [{ field: 'spec.groups', to, onMissing: 'allow', onDelete: 'refuse' }]),
  ];
  const server = await startTestServer({ environment: { PLUGINS_DIRS: await pluginsFolder(types) } });
  t.teardown(async () => server.remove());
  const path = (plural: string): string => `/apis/linked.example/v1/${plural}`;
  const make = async (plural: string, name: string, spec: object = {}) =>
    server.call(path(plural), { method: 'POST', body: { metadata: { name }, spec } });
  const missing = await make('links', 'a', { group: 'blue' });
  t.equal(missing.status, 422);
  t.match(await missing.json(), {
    reason: 'Invalid',
    errors: [
      {
        pointer: '/spec/group',
        detail: 'must name an existing object: groups.linked.example "blue" does not exist',
      },
    ],
  });
  t.equal((await make('groups', 'blue')).status, 201);
  t.equal((await make('links', 'a', { group: 'blue' })).status, 201);
  t.equal((await make('pins', 'p', { groups: ['blue'] })).status, 201);
  const refused = await server.call(`${path('groups')}/blue`, { method: 'DELETE' });
  t.equal(refused.status, 409);
  t.match(await refused.json(), {
    reason: 'ObjectReferenced',
    message:
      'groups.linked.example "blue" cannot be deleted, because 1 object of pins.linked.example names it in ' +
      'spec.groups: "p"',
  });
  t.equal((await server.call(`${path('pins')}/p`, { method: 'DELETE' })).status, 200);
  t.equal((await server.call(`${path('groups')}/blue`, { method: 'DELETE' })).status, 200);
  const statusOf = async (place: string): Promise<number> => {
    const response = await server.call(place);
    await response.arrayBuffer();
    return response.status;
  };
  while ((await statusOf(`${path('groups')}/blue`)) !== 404) await nextTurn();
  t.equal(await statusOf(`${path('links')}/a`), 404);
});

test('declarations in a circle that could never be completed stop the plugin with the reason', async (t) => {
  const types = [
    typeText('Group', [{ field: 'spec.group', to: 'links.linked.example', onMissing: 'allow', onDelete: 'refuse' }]),
    typeText('Link', [{ field: 'spec.group', to, onMissing: 'allow', onDelete: 'cascade' }]),
  ];
  const server = await startTestServer({ environment: { PLUGINS_DIRS: await pluginsFolder(types) } });
  t.teardown(async () => server.remove());
  const plugin = async () =>
    (await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/linked')).json()) as {
      readonly status?: { readonly phase?: string; readonly conditions?: readonly object[] };
    };
  let found = await plugin();
  while (found.status?.phase !== 'failed') {
    await nextTurn();
    found = await plugin();
  }
  t.match(found.status.conditions, [{ reason: 'TypesRefused', message: /form a circle/ }]);
});
