/** What an upgrade changes is reported before anything is written, and objects that break the schema stay reported. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { packageOf } from './archives.ts';
import { linksFiles, linksKey, linksPackage, linksPath } from './links-package.ts';
import { conditionOf, dryRun, install, pluginPath, pluginWhere, traces, upgrade } from './package-requests.ts';

t.setTimeout(120_000);

const first = linksPackage({ version: '1.0.0', member: 'title', hasNotes: true });
const second = linksPackage({ version: '2.0.0', member: 'label' });

async function started(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return server;
}

async function fill(server: TestServer, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const body = { metadata: { name: `link-${String(index).padStart(2, '0')}` }, spec: { title: 'a' } };
    const { status } = await server.call(linksPath, { method: 'POST', body });
    if (status !== 201) throw new Error(`the create of a link is answered with ${String(status)}`);
  }
}

async function shown(server: TestServer, path: string): Promise<unknown> {
  return (await server.call(path)).json();
}

const report = {
  from: '1.0.0',
  to: '2.0.0',
  parts: { types: ['Link'], roles: 0, objects: 0, routes: 0, reconcilers: 0, pages: false },
  removedTypes: [{ type: 'notes.links.example.com', kind: 'Note', objects: 1 }],
  removedVersions: [],
  indexes: [{ type: linksKey, name: 'spec.label', change: 'added' }],
  required: [{ type: linksKey, pointer: '/spec/label', lacking: 12 }],
  migrations: [],
  objects: [{ type: linksKey, stored: 12, checked: 12, invalid: 12, failing: 0 }],
  invalid: Array.from({ length: 10 }, (_, index) => ({
    type: linksKey,
    name: `link-0${String(index)}`,
    errors: [
      { pointer: '/spec/label', detail: 'is required' },
      { pointer: '/spec/title', detail: 'is not known' },
    ],
  })),
};

test('a dry run of an upgrade reports what changes and which objects break, and writes nothing', async (t) => {
  const server = await started(t);
  t.equal((await install(server, first)).status, 201);
  await fill(server, 12);
  const note = { metadata: { name: 'one' }, spec: {} };
  await server.call('/apis/links.example.com/v1/notes', { method: 'POST', body: note });
  const [before, left] = [await shown(server, `${pluginPath}/links`), await traces(server)];

  const dry = await dryRun(server, second, 'links');
  t.equal(dry.status, 200, JSON.stringify(dry.body));
  t.same(dry.body['status'].upgrade, report);
  t.equal(dry.body['spec'].version, '2.0.0', 'the object as the upgrade would write it');
  t.same(await shown(server, `${pluginPath}/links`), before);
  t.same(await traces(server), left, 'no folder of the package stays');
  t.equal((await server.call(`${linksPath}/link-00`)).status, 200);
  t.match(await dryRun(server, first, 'links'), {
    status: 200,
    body: { status: { upgrade: { removedTypes: [], indexes: [], required: [], invalid: [] } } },
  });

  const upgraded = await upgrade(server, 'links', second);
  t.equal(upgraded.status, 200);
  t.same(upgraded.body['status'].upgrade, report, 'an upgrade reports the same');
});

test('objects that an upgrade left invalid stay in a condition until the last one is corrected', async (t) => {
  const server = await started(t);
  await install(server, first);
  await fill(server, 3);
  await upgrade(server, 'links', second);
  const countOf = (plugin: unknown): string | undefined =>
    /: (\d+) objects? breaks? the schema, the first is "[a-z0-9-]+": \/spec\/label is required/u.exec(
      conditionOf(plugin, 'ObjectsInvalid')?.message ?? '',
    )?.[1];
  const invalid = await pluginWhere(server, 'links', (plugin) => countOf(plugin) === '3');
  t.match(conditionOf(invalid, 'ObjectsInvalid'), {
    status: 'True',
    reason: 'SchemaViolated',
    message: `${linksKey}: 3 objects break the schema, the first is "link-00": /spec/label is required`,
  });
  const correct = async (name: string): Promise<void> => {
    const body = { apiVersion: 'links.example.com/v1', kind: 'Link', metadata: { name }, spec: { label: 'a' } };
    t.equal((await server.call(`${linksPath}/${name}`, { method: 'PUT', body })).status, 200);
  };
  await correct('link-00');
  await server.call(`${linksPath}/link-02`, { method: 'DELETE' });
  const one = await pluginWhere(server, 'links', (plugin) => countOf(plugin) === '1');
  t.match(conditionOf(one, 'ObjectsInvalid')?.message, /the first is "link-01"/u);

  const again = await server.restart();
  t.teardown(async () => again.remove());
  t.equal(countOf(await pluginWhere(again, 'links', (plugin) => countOf(plugin) === '1')), '1', 'after a restart');
  const body = { apiVersion: 'links.example.com/v1', kind: 'Link', metadata: { name: 'link-01' }, spec: { label: '' } };
  t.equal((await again.call(`${linksPath}/link-01`, { method: 'PUT', body })).status, 200);
  await pluginWhere(again, 'links', (plugin) => conditionOf(plugin, 'ObjectsInvalid') === undefined);
});

test('the hook validate of the new version judges the stored objects', async (t) => {
  const server = await started(t);
  await install(server, first);
  await fill(server, 3);
  const validate =
    "({ metadata }) => { if (metadata.name === 'link-01') throw new Error('odd'); " +
    "return metadata.name === 'link-02' ? [{ pointer: '/spec/title', detail: 'is old' }] : undefined; }";
  const hooked = linksPackage({ version: '2.0.0', member: 'title', typed: `hooks: { validate: ${validate} },` });
  const dry = await dryRun(server, hooked, 'links');
  t.match(dry.body['status'].upgrade, {
    objects: [{ stored: 3, checked: 3, invalid: 2, failing: 0 }],
    invalid: [
      { name: 'link-01', errors: [{ detail: /^the hook "validate" .* threw: odd \(at main\.js:\d+\)$/u }] },
      { name: 'link-02', errors: [{ pointer: '/spec/title', detail: 'is old (the hook "validate")' }] },
    ],
  });
  t.equal((await upgrade(server, 'links', hooked)).status, 200);
  const broken = await pluginWhere(server, 'links', (plugin) => conditionOf(plugin, 'ObjectsInvalid') !== undefined);
  const text = /2 objects break .* "link-01": the hook "validate" .* threw: odd \(at main\.js:\d+\)$/u;
  t.match(conditionOf(broken, 'ObjectsInvalid')?.message, text);
});

test('dry runs of an install and of an uninstall change nothing', async (t) => {
  const server = await started(t);
  const dry = await dryRun(server, first);
  t.match(dry, { status: 201, body: { metadata: { name: 'links' }, status: { upgrade: { from: '', to: '1.0.0' } } } });
  t.same(await traces(server), []);
  t.equal((await server.call(`${pluginPath}/links`)).status, 404);
  t.equal((await dryRun(server, Buffer.from('no archive'))).status, 422, 'a package is refused as by an install');

  await install(server, first);
  await fill(server, 2);
  t.match(await dryRun(server, first), { status: 409 });
  const uninstall = await server.call(`${pluginPath}/links?dryRun=All`, { method: 'DELETE' });
  t.equal(uninstall.status, 200);
  const plugin = await shown(server, `${pluginPath}/links`);
  t.match(plugin, { status: { phase: 'started' } });
  t.notOk('deletionTimestamp' in (plugin as { readonly metadata: object }).metadata);
  t.equal((await server.call(`${linksPath}/link-00`)).status, 200);
});

test('an install reports the objects that an earlier installation left', async (t) => {
  const server = await started(t);
  await install(server, first);
  await fill(server, 2);
  await server.call(`${pluginPath}/links`, { method: 'DELETE' });
  while ((await server.call(`${pluginPath}/links`)).status !== 404);
  const dry = await dryRun(server, second);
  t.match(dry.body['status'].upgrade, {
    from: '',
    to: '2.0.0',
    objects: [{ type: linksKey, stored: 2, checked: 2, invalid: 2 }],
  });
});

test('the command line reports an upgrade, with exit code 1 if objects break', async (t) => {
  const server = await started(t);
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-upgrade-'));
  t.teardown(async () => rm(folder, { recursive: true }));
  const files = { one: join(folder, 'links-1.0.0.tgz'), two: join(folder, 'links-2.0.0.tgz') };
  await writeFile(files.one, first);
  await writeFile(files.two, second);
  const run = async (...args: string[]): Promise<object> => {
    const line = runCommandLine(['plugin', ...args], {
      cwd: server.dataDir,
      env: { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword },
    });
    const code = await line.exited();
    return { code, out: line.stdout(), err: line.stderr() };
  };
  t.same(await run('install', files.one, '--dry-run'), {
    code: 0,
    out: '',
    err: 'no type, index or stored object is affected\n',
  });
  t.match(await run('install', files.one), { code: 0 });
  await fill(server, 2);
  const lines = [
    'removed type: notes.links.example.com, 0 objects',
    `new index to build: spec.label of ${linksKey}`,
    `newly required: /spec/label of ${linksKey}; 2 stored objects lack it`,
    `invalid: 2 of 2 objects of ${linksKey} break the schema`,
    '  link-00: /spec/label is required; /spec/title is not known',
    '  link-01: /spec/label is required; /spec/title is not known',
    '',
  ].join('\n');
  t.same(await run('upgrade', 'links', files.two, '--check'), {
    code: 1,
    out: lines,
    err: 'ledgerplane: 2 stored objects break the schemas of the new version\n',
  });
  t.match(await run('list'), { out: /^links +1\.0\.0 +started/mu });
  t.match(await run('upgrade', 'links', files.two), {
    code: 0,
    out: 'links\n',
    err: new RegExp(
      `^${lines.replaceAll(/[./]/gu, String.raw`\$&`)}upgraded links: the plugin is started, version 2`,
      'u',
    ),
  });
  t.match(await run('upgrade', 'links', files.two), { code: 0, err: /^upgraded links/u }, 'nothing is written again');
  t.same(await run('uninstall', 'links', '--dry-run'), {
    code: 0,
    out: 'kept: links.links.example.com, 2 objects\nkept: notes.links.example.com, objects that are not served now\n',
    err: '',
  });
  t.same(await run('uninstall', 'links', '--dry-run', '--delete-data'), {
    code: 0,
    out:
      'removed: links.links.example.com, 2 objects\n' +
      'removed: notes.links.example.com, objects that are not served now\n',
    err: '',
  });
  t.match(await run('list'), { out: /^links +2\.0\.0 +started/mu });
});

test('the objects of a new version are checked by its types, before the server has these types', async (t) => {
  const server = await started(t);
  const shipping = (version: string, member: 'title' | 'label', spec: string): Buffer =>
    packageOf('links', {
      files: {
        ...linksFiles({ version, member }),
        'extensions/one.yaml': `apiVersion: links.example.com/v1\nkind: Link\nmetadata: { name: one }\nspec: ${spec}\n`,
      },
      more: '  main: main.js\n',
      version,
    });
  t.equal((await install(server, shipping('1.0.0', 'title', '{ title: One }'))).status, 201);
  t.match(await upgrade(server, 'links', shipping('2.0.0', 'label', '{ title: One }')), {
    status: 422,
    body: {
      message:
        'the package is refused: extensions/one.yaml: Link one: spec.label is required; ' +
        'extensions/one.yaml: Link one: spec.title is not known',
    },
  });
  const next = shipping('2.0.0', 'label', '{ label: One }');
  const dry = await dryRun(server, next, 'links');
  t.equal(dry.status, 200, JSON.stringify(dry.body));
  t.match(await upgrade(server, 'links', next), { status: 200, body: { status: { phase: 'started' } } });
  t.match(await shown(server, `${linksPath}/one`), { spec: { label: 'One' } });
});
