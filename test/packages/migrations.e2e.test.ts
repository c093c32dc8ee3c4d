/** Migrations of a real package: what they change, what they report, and that they run once. */
import t, { test, type Test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { linksKey, linksPackage, linksPath } from './links-package.ts';
import { conditionOf, dryRun, install, pluginPath, pluginWhere, upgrade } from './package-requests.ts';

t.setTimeout(240_000);

const first = linksPackage({ version: '1.0.0', member: 'title' });
const rename =
  "({ spec, ...link }) => { if (spec.title === 'bad') throw new Error('bad title'); " +
  "return 'title' in spec ? { ...link, spec: { label: spec.title } } : undefined; }";
const second = (version = '2.0.0', up = rename): Buffer =>
  linksPackage({ version, member: 'label', more: `migrations: [{ id: 'rename-title', type: link, up: ${up} }],` });

type Migration = { readonly phase: string; readonly changed: number; readonly failed: number };

function migrationsOf(plugin: unknown): readonly Migration[] {
  return (plugin as { readonly status?: { readonly migrations?: readonly Migration[] } }).status?.migrations ?? [];
}

async function filled(t: Test, count: number): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  t.equal((await install(server, first)).status, 201);
  for (let index = 0; index < count; index += 1) await create(server, `link-${String(index).padStart(3, '0')}`, 'a');
  return server;
}

async function create(server: TestServer, name: string, title: string): Promise<void> {
  const { status } = await server.call(linksPath, { method: 'POST', body: { metadata: { name }, spec: { title } } });
  if (status !== 201) throw new Error(`the create of ${name} is answered with ${String(status)}`);
}

async function specOf(server: TestServer, name: string): Promise<unknown> {
  return ((await (await server.call(`${linksPath}/${name}`)).json()) as { readonly spec: unknown }).spec;
}

test('an upgrade migrates all objects, records it, and does not run the migration again', async (t) => {
  let server = await filled(t, 40);
  const dry = await dryRun(server, second(), 'links');
  t.match(dry.body['status'].upgrade, {
    migrations: [{ id: 'rename-title', type: linksKey, changes: 40 }],
    objects: [{ stored: 40, checked: 40, invalid: 0 }],
  });
  t.same(await specOf(server, 'link-000'), { title: 'a' }, 'a dry run migrates nothing');
  t.equal((await upgrade(server, 'links', second())).status, 200);
  const done = await pluginWhere(
    server,
    'links',
    (plugin) => migrationsOf(plugin)[0]?.phase === 'done' && conditionOf(plugin, 'Migrating') === undefined,
  );
  t.match(migrationsOf(done), [{ id: 'rename-title', objects: 40, visited: 40, changed: 40, failed: 0 }]);
  t.equal(conditionOf(done, 'ObjectsInvalid'), undefined);
  for (const name of ['link-000', 'link-039']) t.same(await specOf(server, name), { label: 'a' });
  const history = (await (await server.call(`${linksPath}/link-000/history`)).json()) as {
    readonly items: readonly { readonly actor: string }[];
  };
  t.match(history.items.at(-1), { actor: 'plugin:links' });
  const metrics = await (await server.call('/metrics')).text();
  t.match(metrics, /ledgerplane_migration_objects\{plugin="links",migration="rename-title",state="changed"\} 40/u);

  server = await server.restart();
  t.teardown(async () => server.remove());
  await server.upgrades.idle();
  const plugin = await (await server.call(`${pluginPath}/links`)).json();
  t.same(migrationsOf(plugin), migrationsOf(done));
  t.match(await dryRun(server, second('2.1.0'), 'links'), { body: { status: { upgrade: { migrations: [] } } } });
});

const turned =
  "(link) => { const n = '1' + (link.metadata.labels?.n ?? ''); " +
  'return { ...link, metadata: { ...link.metadata, labels: { n } } }; }';

test('a step that never returns refuses the upgrade, and one that is not idempotent is reported', async (t) => {
  const server = await filled(t, 3);
  const [endless, repeating] = ['() => { while (true); }', turned].map((up) => {
    const more = `migrations: [{ id: 'turn', type: link, up: ${up} }],`;
    return linksPackage({ version: '2.0.0', member: 'title', more });
  });
  const message = new RegExp(
    '^the package is refused: the migration turn did not return within 5 s for the object "link-000" of ' +
      `${linksKey} \\(at main\\.js:\\d+\\): a step must return for every stored object$`,
    'u',
  );
  t.match(await upgrade(server, 'links', endless!), { status: 422, body: { message } });
  t.same(await specOf(server, 'link-000'), { title: 'a' }, 'the server still answers');
  const dry = await dryRun(server, repeating!, 'links');
  t.match(dry.body['status'].upgrade.invalid[0], {
    name: 'link-000',
    errors: [{ pointer: '', detail: /^the migration turn returned .* is not idempotent; .* \(at main\.js:\d+\)$/u }],
  });
});

test('an object whose step throws is named until it changes, and the others are migrated', async (t) => {
  const server = await filled(t, 5);
  await create(server, 'odd', 'bad');
  const dry = await dryRun(server, second(), 'links');
  t.match(dry.body['status'].upgrade, {
    required: [{ pointer: '/spec/label', lacking: 0 }],
    objects: [{ stored: 6, invalid: 0, failing: 1 }],
    invalid: [
      {
        name: 'odd',
        errors: [{ pointer: '', detail: /^the migration rename-title threw: bad title \(at main\.js:7\)$/u }],
      },
    ],
  });
  await upgrade(server, 'links', second());
  const failing = await pluginWhere(
    server,
    'links',
    (plugin) =>
      conditionOf(plugin, 'MigrationFailing') !== undefined && conditionOf(plugin, 'ObjectsInvalid') !== undefined,
  );
  t.match(conditionOf(failing, 'MigrationFailing'), {
    reason: 'ObjectsFailing',
    message: new RegExp(
      `^rename-title: 1 object fails in ${linksKey}, the first is "odd": threw: bad title \\(at main\\.js:\\d+`,
      'u',
    ),
  });
  t.match(conditionOf(failing, 'ObjectsInvalid')?.message, /1 object breaks the schema, the first is "odd"/u);
  t.match(migrationsOf(failing), [{ phase: 'failing', changed: 5, failed: 1 }]);
  t.same(await specOf(server, 'link-004'), { label: 'a' });
  t.same(await specOf(server, 'odd'), { title: 'bad' });

  const body = { apiVersion: 'links.example.com/v1', kind: 'Link', metadata: { name: 'odd' }, spec: { label: 'good' } };
  t.equal((await server.call(`${linksPath}/odd`, { method: 'PUT', body })).status, 200);
  await pluginWhere(
    server,
    'links',
    (plugin) => migrationsOf(plugin)[0]?.phase === 'done' && conditionOf(plugin, 'MigrationFailing') === undefined,
  );
});

test('a corrected version of a failing migration runs under the same id', async (t) => {
  const server = await filled(t, 3);
  await upgrade(server, 'links', second('2.0.0', "() => { throw new Error('not written yet'); }"));
  await pluginWhere(server, 'links', (plugin) => migrationsOf(plugin)[0]?.failed === 3);
  await upgrade(server, 'links', second('2.0.1'));
  await pluginWhere(server, 'links', (plugin) => migrationsOf(plugin)[0]?.phase === 'done');
  t.same(await specOf(server, 'link-002'), { label: 'a' });
});

test('declarations that are no migrations refuse the package', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const cases: readonly (readonly [string, RegExp])[] = [
    ['migrations: {}', /migrations: must be an array of at most 64 elements/u],
    ['migrations: [1]', /migrations\[0\]: must be an object/u],
    [
      "migrations: [{ id: 'A', type: link, up: 1, down: 2 }]",
      /migrations\[0\]\.down: is not known.*\[0\]\.id: must be at most 63 lowercase.*\.up: must be a function/u,
    ],
    [
      "migrations: [{ id: 'a', up() {} }]",
      /migrations\[0\]\.type: must be an object with the group, version and plural/u,
    ],
    [
      "migrations: [{ id: 'a', type: { ...link, plural: 'others' }, up() {} }]",
      /migrations\[0\]\.type: others of links\.example\.com\/v1 is not a type of this plugin/u,
    ],
    [
      "migrations: [{ id: 'a', type: { ...link, version: 'v1alpha1' }, up() {} }]",
      /type: links of links\.example\.com\/v1alpha1 is not a type of this plugin; the plugin has it in v1/u,
    ],
    [
      "migrations: [{ id: 'a', type: link, up() {} }, { id: 'a', type: link, up() {} }]",
      /migrations\[1\]\.id: another migration has the id a/u,
    ],
    ['migrations: Array.from({ length: 65 }, () => ({}))', /migrations: must be an array of at most 64 elements/u],
  ];
  for (const [more, message] of cases) {
    const answer = await install(server, linksPackage({ version: '1.0.0', member: 'title', more: `${more},` }));
    t.match(answer, { status: 422, body: { message } }, more);
  }
});
