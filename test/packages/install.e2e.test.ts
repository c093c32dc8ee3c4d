import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { test, type Test } from 'tap';

import { packageBytesMax } from '../../src/plugin/packages/package-limits.ts';
import { as, Administration } from '../support/server/administration.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { adminAuthorization, startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { packageOf, tgz } from './archives.ts';
import { formWith, install, installPath, pluginPath, send, traces, upgrade } from './package-requests.ts';
import { tellerPackage, tellerVersionPath } from './teller-package.ts';

t.setTimeout(200_000);

async function started(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return server;
}

test('a package is installed, serves, survives a restart, is upgraded, rolled back, and uninstalled', async (t) => {
  let server = await started(t);
  const installed = await install(server, tellerPackage('1.0.0'));
  t.equal(installed.status, 201, JSON.stringify(installed.body));
  t.equal(installed.headers.get('location'), `${pluginPath}/teller`);
  t.match(installed.body, {
    kind: 'Plugin',
    metadata: { name: 'teller' },
    spec: { version: '1.0.0', package: { bytes: tellerPackage('1.0.0').length } },
    status: { phase: 'started' },
  });
  const readVersion = async (): Promise<unknown> => (await server.call(tellerVersionPath)).json();
  t.same(await readVersion(), { version: '1.0.0' });
  t.equal(
    (await server.call('/apis/teller.example.com/v1/tales', { method: 'POST', body: { metadata: { name: 'one' } } }))
      .status,
    201,
  );

  t.match(
    await upgrade(server, 'teller', tellerPackage('1.0.0')),
    { status: 200, body: { metadata: { version: installed.body['metadata'].version } } },
    'the same package changes nothing',
  );
  const upgraded = await upgrade(server, 'teller', tellerPackage('2.0.0', { format: 'zip' }));
  t.match(upgraded, { status: 200, body: { spec: { version: '2.0.0' }, status: { phase: 'started' } } });
  t.same(await readVersion(), { version: '2.0.0' });

  server = await server.restart();
  t.teardown(async () => server.remove());
  t.same(await readVersion(), { version: '2.0.0' });
  t.equal(
    (await readdir(join(server.dataDir, 'packages'))).length,
    2,
    'the folder of the package before is gone, and so is its sum',
  );
  t.match(await upgrade(server, 'teller', tellerPackage('1.0.0')), {
    status: 200,
    body: { spec: { version: '1.0.0' }, status: { phase: 'started' } },
  });
  t.same(await readVersion(), { version: '1.0.0' });
  t.equal((await server.call('/apis/teller.example.com/v1/tales/one')).status, 200);

  t.equal((await server.call(`${pluginPath}/teller`, { method: 'DELETE' })).status, 200);
  for (let tries = 0; tries < 100 && (await server.call(`${pluginPath}/teller`)).status !== 404; tries += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  t.equal((await server.call(`${pluginPath}/teller`)).status, 404);
  t.equal((await install(server, tellerPackage('1.0.0'))).status, 201, 'and it can be installed again');
});

const titled =
  'export default { types: [{ group: "teller.example.com", version: "v1", kind: "Tale", singular: "tale", plural: ' +
  '"tales", schema: { type: "object", required: ["spec"], properties: { spec: { type: "object", required: ' +
  '["title"], additionalProperties: false, properties: { title: { type: "string" } } } } } }] };';

function tale(spec: string): string {
  return `apiVersion: teller.example.com/v1\nkind: Tale\nmetadata: {name: one}\n${spec}\n`;
}

test('a refused package names the reason and leaves no trace', async (t) => {
  const server = await started(t);
  const before = await server.call('/readyz').then(async () => traces(server));
  t.same(before, []);
  const cases: readonly (readonly [string, Buffer, number, RegExp])[] = [
    ['no archive', Buffer.from('hello'), 422, /neither a gzipped tarball nor a zip/u],
    [
      'a way out',
      tgz([
        { name: 'package/plugin.yaml', content: '' },
        { name: '../../evil', content: 'x' },
      ]),
      422,
      /"\.\.\/\.\.\/evil" leads out/u,
    ],
    [
      'a link',
      tgz([
        { name: 'package/plugin.yaml', content: '' },
        { name: 'package/l', kind: 'symlink', link: '/' },
      ]),
      422,
      /symbolic link/u,
    ],
    ['no manifest', tgz([{ name: 'package/x', content: '' }]), 422, /has no plugin\.yaml/u],
    [
      'a manifest that does not validate',
      packageOf('bad', { more: '  requires: nonsense\n' }),
      422,
      /spec\.requires: must be a range/u,
    ],
    [
      'a manifest that names a package',
      packageOf('bad', { more: '  package: {digest: x, bytes: 1}\n' }),
      422,
      /spec\.package: must be omitted: the installation sets this member/u,
    ],
    [
      'two types with one plural',
      packageOf('bad', {
        files: {
          'main.js':
            'const type = (kind) => ({ group: "bad.example.com", version: "v1", kind, singular: kind.toLowerCase(), ' +
            'plural: "bads", schema: {} }); export default { types: [type("One"), type("Two")] };',
          'package.json': '{"type":"module"}',
        },
        more: '  main: main.js\n',
      }),
      422,
      /type Two of bad\.example\.com \(bads\) has the plural bads, as the type One: choose another one/u,
    ],
    [
      'a platform that is too old',
      packageOf('bad', { more: '  requires: ">=99.0.0"\n' }),
      422,
      /requires platform >=99/u,
    ],
    [
      'a module that does not load',
      tellerPackage('1.0.0', { module: 'throw new Error("broken at load")' }),
      422,
      /broken at load/u,
    ],
    ['a reserved group', tellerPackage('1.0.0', { group: 'teller.svc.run' }), 422, /reserved/u],
    [
      'a manifest that breaks a rule of the door',
      tellerPackage('1.0.0', { name: 'teller\n  labels: {"a b": "1"}' }),
      422,
      /label/u,
    ],
    [
      'an object that breaks its own type',
      tellerPackage('1.0.0', { module: titled, objects: tale('spec: {titel: 3}') }),
      422,
      /extensions\/objects\.yaml: Tale one: spec\.title is required; .*titel is not known; did you mean "title"\?/u,
    ],
    [
      "an object that breaks the platform's",
      tellerPackage('1.0.0', {
        objects: 'apiVersion: v1alpha1\nkind: Role\nmetadata: {name: teller-x}\nrules: [{verbs: get}]\n',
      }),
      422,
      /objects\.yaml: Role teller-x: rules\.0\.verbs must be of type array, is "get"/u,
    ],
    [
      'an object that is named as none may be',
      tellerPackage('1.0.0', { objects: tale('spec: {}').replace('{name: one}', '{name: one, labels: {"a b": "1"}}') }),
      422,
      /objects\.yaml: Tale one: metadata\.labels/u,
    ],
    [
      'an object of a kind that its group has not',
      tellerPackage('1.0.0', { objects: `${tale('spec: {}')}---\n${tale('spec: {}').replace('Tale', 'Tail')}` }),
      422,
      new RegExp(
        String.raw`objects\.yaml: the type Tail of teller\.example\.com/v1 does not exist; the plugin has Tale ` +
          String.raw`of teller\.example\.com/v1$`,
        'u',
      ),
    ],
    [
      'an object of a version that its group has not',
      tellerPackage('1.0.0', { objects: tale('spec: {}').replace('/v1', '/v2') }),
      422,
      /the type Tale of teller\.example\.com\/v2 does not exist; the plugin has Tale of/u,
    ],
    ["another plugin's name", packageOf('example'), 409, /is in a plugin folder/u],
    [
      "another plugin's type",
      tellerPackage('1.0.0', {
        module:
          'export default { types: [{ group: "content.svc.run", version: "v1alpha1", kind: "Post", singular: ' +
          '"post", plural: "posts", schema: {} }] };',
      }),
      422,
      /reserved/u,
    ],
  ];
  for (const [what, archive, status, words] of cases) {
    const answer = await install(server, archive);
    t.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
    t.match(answer.body, { message: words }, what);
    t.same(await traces(server), [], what);
  }
  t.equal((await install(server, tellerPackage('1.0.0'))).status, 201);
  t.match(await install(server, tellerPackage('1.0.0')), { status: 409, body: { message: /is already installed/u } });
  t.match(await install(server, tellerPackage('1.0.0', { name: 'other' })), {
    status: 409,
    body: { message: /already exists in the plugin teller/u },
  });
  const ill = await upgrade(
    server,
    'teller',
    tellerPackage('2.0.0', {
      module: titled,
      objects: `${tale('spec: {title: fine}')}---\n${tale('spec: {title: 3}').replace('one', 'two')}`,
    }),
  );
  t.match(
    ill,
    {
      status: 422,
      body: { message: /extensions\/objects\.yaml: Tale two: spec\.title must be of type string, is 3$/u },
    },
    'by the type of the version that is sent',
  );
  t.match(await server.call(`${pluginPath}/teller`).then(async (response) => response.json()), {
    spec: { version: '1.0.0' },
    status: { phase: 'started' },
  });
  t.match(await upgrade(server, 'teller', packageOf('other')), {
    status: 422,
    body: { message: /the package contains the plugin other, not teller/u },
  });
  t.match(
    await upgrade(server, 'teller', tellerPackage('1.0.0', { name: 'other', module: 'throw new Error("ran")' })),
    { status: 422, body: { message: /the package contains the plugin other, not teller$/u } },
    'before anything else about it',
  );
  t.match(await upgrade(server, 'nobody', packageOf('nobody')), { status: 404 });
  t.match(await upgrade(server, 'example', packageOf('example')), {
    status: 409,
    body: { message: /is in a plugin folder/u },
  });
  t.equal(
    (await server.call(pluginPath, { method: 'POST', body: { metadata: { name: 'lost' }, spec: {} } })).status,
    201,
  );
  const lost = {
    status: 409,
    body: {
      message: new RegExp(
        "the plugin's folder is missing: restore the folder, or run " +
          '"ledgerplane plugin uninstall lost" and then install the plugin again$',
        'u',
      ),
    },
  };
  t.match(await install(server, packageOf('lost')), lost, 'neither command sends to the other');
  t.match(await upgrade(server, 'lost', packageOf('lost')), lost);
  t.equal(
    (await upgrade(server, 'teller', tellerPackage('2.0.0', { module: 'throw new Error("broken")' }))).status,
    422,
    'an upgrade that does not load leaves what runs',
  );
  t.match(await server.call(`${pluginPath}/teller`).then(async (response) => response.json()), {
    spec: { version: '1.0.0' },
    status: { phase: 'started' },
  });
});

test('a body is read by its rules, and only once the caller may install', async (t) => {
  const server = await started(t);
  const visitor = await install(server, tellerPackage('1.0.0'), {});
  t.equal(visitor.status, 401);
  const administration = new Administration(server.url);
  await administration.user('mary');
  t.equal((await install(server, tellerPackage('1.0.0'), as('mary'))).status, 403);

  const json = await server.call(installPath, { method: 'POST', body: {} });
  t.equal(json.status, 415);
  t.equal(
    (await server.call(installPath, { method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data' } }))
      .status,
    400,
    'no boundary',
  );
  t.match(await send(server, installPath, formWith(packageOf('x'), 'other')), {
    status: 400,
    body: { message: /expected the file in "file"/u },
  });
  t.match(await send(server, installPath, new FormData()), { status: 400 });
  const two = formWith(packageOf('x'));
  two.append('file', new Blob(['y']), 'y');
  t.match(await send(server, installPath, two), { status: 400, body: { message: /more than one file/u } });
  const field = formWith(packageOf('x'));
  field.append('name', 'x');
  t.match(await send(server, installPath, field), { status: 400, body: { message: /"name", which is not a file/u } });
  t.match(await install(server, Buffer.alloc(packageBytesMax)), { status: 422 }, 'as large as it may be');
  t.match(await install(server, Buffer.alloc(packageBytesMax + 1)), { status: 413 });
  t.match(await install(server, Buffer.alloc(packageBytesMax + 100_000)), { status: 413 }, 'refused before it is read');
  const large = await server.call('/api/v1alpha1/users', {
    method: 'POST',
    body: JSON.stringify({ pad: 'x'.repeat(1_100_000) }),
  });
  t.equal(large.status, 413, 'the limit elsewhere is unchanged');
  t.same(await traces(server), []);
});

test('an upload of a disconnected client leaves nothing', async (t) => {
  const server = await started(t);
  await new Promise<void>((resolve) => {
    const req = request(`${server.url}${installPath}`, {
      method: 'POST',
      headers: {
        authorization: adminAuthorization,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': '100000',
      },
    });
    req.on('error', () => {
      resolve();
    });
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="p.tgz"\r\n\r\nabc', () => {
      req.destroy();
    });
    req.on('close', () => {
      resolve();
    });
  });
  t.same(await traces(server), []);
  t.equal((await install(server, tellerPackage('1.0.0'))).status, 201, 'and its turn is free again');
});

test('of several installs of one plugin at once one wins', async (t) => {
  const server = await started(t);
  const answers = await Promise.all(
    [1, 2].map(async (minor) => install(server, tellerPackage(`1.${String(minor)}.0`))),
  );
  t.same(answers.map(({ status }) => status).sort(), [201, 409]);
});

test('a Plugin shows the installed package and its state', async (t) => {
  const server = await started(t);
  t.equal((await install(server, tellerPackage('1.0.0'))).status, 201);
  t.match(
    await install(server, tellerPackage('1.0.0', { name: 'platform', group: 'other.example.com' })),
    { status: 422, body: { message: /metadata\.name: platform/u } },
    'nobody is taken for the platform',
  );

  const forged = await server.call(`${pluginPath}/teller/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: {
      status: {
        phase: 'failed',
        types: [{ group: '', version: 'v1alpha1', kind: 'User', singular: 'user', plural: 'users' }],
      },
    },
  });
  t.match(
    await forged.json(),
    { status: { phase: 'started', types: [{ plural: 'tales' }] } },
    'what a client says of it is ignored',
  );

  const none = { digest: 'f'.repeat(64), bytes: 5 };
  const patched = await server.call(`${pluginPath}/teller`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { package: none, displayName: 'Mine' } },
  });
  t.match(await patched.json(), { spec: { package: none } });
  t.match(
    await upgrade(server, 'teller', tellerPackage('2.0.0')),
    {
      status: 200,
      body: {
        spec: { version: '2.0.0', displayName: 'Mine', package: { bytes: tellerPackage('2.0.0').length } },
        status: { phase: 'started' },
      },
    },
    'an upgrade puts its package in the place of whatever stands there',
  );
});

test('a role permits installs, and a role permits upgrades', async (t) => {
  const server = await started(t);
  const administration = new Administration(server.url);
  await administration.user('mary');
  await administration.call('POST', '/api/v1alpha1/roles', {
    apiVersion: 'v1alpha1',
    kind: 'Role',
    metadata: { name: 'installer' },
    rules: [{ nonResourceURLs: [installPath], verbs: ['create'] }],
  });
  await administration.call('POST', '/apis/api.console.svc.run/v1alpha1/users/mary/permissions', {
    roles: ['installer'],
  });
  t.equal((await install(server, tellerPackage('1.0.0'), as('mary'))).status, 201);
  const path = '/apis/api.console.svc.run/v1alpha1/plugins/teller/upgrade';
  t.equal((await send(server, path, formWith(tellerPackage('2.0.0')), as('mary'))).status, 403);
  await administration.call('POST', '/api/v1alpha1/roles', {
    apiVersion: 'v1alpha1',
    kind: 'Role',
    metadata: { name: 'upgrader' },
    rules: [{ apiGroups: ['api.console.svc.run'], resources: ['plugins/upgrade'], verbs: ['create'] }],
  });
  await administration.call('POST', '/apis/api.console.svc.run/v1alpha1/users/mary/permissions', {
    roles: ['installer', 'upgrader'],
  });
  t.equal((await send(server, path, formWith(tellerPackage('2.0.0')), as('mary'))).status, 200);
});

test('what npm packs is installed and looked after from the command line', async (t) => {
  const server = await started(t);
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-npm-pack-'));
  t.teardown(async () => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'extensions'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'packed', version: '1.0.0', type: 'module' }));
  await writeFile(
    join(folder, 'plugin.yaml'),
    'apiVersion: plugin.${domain}/v1alpha1\nkind: Plugin\nmetadata:\n  name: packed\nspec:\n  version: 1.0.0\n',
  );
  await writeFile(
    join(folder, 'extensions', 'role.yaml'),
    'apiVersion: v1alpha1\nkind: Role\nmetadata:\n  name: packed-view\nrules: []\n',
  );
  await promisify(execFile)('npm', ['pack', '--offline', '--ignore-scripts', '--cache', join(folder, '.npm')], {
    cwd: folder,
  });
  const file = join(folder, 'packed-1.0.0.tgz');
  t.ok((await readFile(file)).length > 0);
  const run = async (
    ...args: string[]
  ): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> => {
    const line = runCommandLine(['plugin', ...args], {
      cwd: server.dataDir,
      env: { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword },
    });
    const code = await line.exited();
    return { code, out: line.stdout(), err: line.stderr() };
  };
  t.same(await run('install', file), {
    code: 0,
    out: 'packed\n',
    err: 'installed packed: the plugin is started, version 1.0.0\n',
  });
  t.match(await run('install', file), {
    code: 1,
    out: '',
    err: new RegExp(
      'is already installed: "ledgerplane plugin upgrade packed <file>" replaces it with another ' +
        String.raw`version \(409 AlreadyExists\)`,
      'u',
    ),
  });
  t.match(await run('install', join(folder, 'nothing.tgz')), { code: 2, err: /cannot be read/u });
  t.equal(
    (
      await install(
        server,
        tellerPackage('1.0.0', { module: 'export default { controllers: [{ path: "/nowhere", routes: [] }] };' }),
      )
    ).status,
    201,
  );
  t.match(
    await run('list'),
    {
      code: 0,
      out: new RegExp(
        String.raw`^NAME +VERSION +PHASE +REASON\n(?:.*\n)*packed +1\.0\.0 +started +-\nteller +1\.0\.0 +started ` +
          '+ControllersIgnored: .*/nowhere',
        'u',
      ),
    },
    'what there is to know of one that runs',
  );
  t.same(await run('disable', 'packed'), {
    code: 0,
    out: 'packed\n',
    err: 'disabled packed: the plugin is stopped, version 1.0.0: Disabled: spec.enabled is false\n',
  });
  t.match(await run('enable', 'packed'), { code: 0, err: /^enabled packed: the plugin is started/u });
  const next = join(folder, 'next.zip');
  await writeFile(next, packageOf('packed', { more: '  pluginDependencies:\n    missing-one: "*"\n', format: 'zip' }));
  t.match(await run('upgrade', 'packed', next), {
    code: 1,
    err: /packed is upgraded, but its phase is failed.*missing-one/u,
  });
  t.match(await run('upgrade', 'packed', file), { code: 0, err: /^upgraded packed: the plugin is started/u });
  t.match(await run('uninstall', 'packed'), { code: 0, out: '', err: 'uninstalled packed\n' });
  t.equal((await server.call(`${pluginPath}/packed`)).status, 404);
  t.match(await run('uninstall', 'packed'), { code: 1, err: /\(404 NotFound\)/u });
  t.match(await run('enable', '..'), { code: 2 });
});

test('an upgrade does not restore a plugin uninstalled during its inspection', async (t) => {
  const server = await started(t);
  t.equal((await install(server, tellerPackage('1.0.0'))).status, 201);
  // The new version's own module sees to it that the plugin is gone before it has loaded.
  const module = `const call = (method) => fetch('${server.url}${pluginPath}/teller', { method,
    headers: { authorization: '${adminAuthorization}' } });
  await call('DELETE');
  while ((await call('GET')).status !== 404);
  export default {};`;
  t.match(await upgrade(server, 'teller', tellerPackage('2.0.0', { module })), {
    status: 404,
    body: { reason: 'NotFound' },
  });
  t.equal((await server.call(`${pluginPath}/teller`)).status, 404);
});

test('upgrades that make plugins need each other in a ring fail both, and are mended by another upgrade', async (t) => {
  const server = await started(t);
  const of = (name: string, version: string, needs = ''): Buffer =>
    tellerPackage(version, {
      name,
      module: 'export default {};',
      more: needs === '' ? '' : `  pluginDependencies: { ${needs}: "*" }\n`,
    });
  t.equal((await install(server, of('ring-a', '1.0.0'))).status, 201);
  t.equal((await install(server, of('ring-b', '1.0.0', 'ring-a'))).status, 201);
  t.equal((await install(server, of('ring-c', '1.0.0', 'ring-b'))).status, 201);
  t.match(await upgrade(server, 'ring-a', of('ring-a', '2.0.0', 'ring-c')), {
    status: 200,
    body: { status: { phase: 'failed', conditions: [{ reason: 'DependencyCycle' }] } },
  });
  t.match(await upgrade(server, 'ring-a', of('ring-a', '3.0.0')), {
    status: 200,
    body: { status: { phase: 'started' } },
  });
  for (const name of ['ring-b', 'ring-c']) {
    const phase = async (): Promise<unknown> =>
      ((await (await server.call(`${pluginPath}/${name}`)).json()) as { readonly status: { readonly phase: string } })
        .status.phase;
    for (let tries = 0; tries < 100 && (await phase()) !== 'started'; tries += 1)
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    t.equal(await phase(), 'started', name);
  }
});

test('an installed plugin that imports the platform runs again in a process that installed nothing', async (t) => {
  const cwd = t.testdir();
  const env = { PORT: '0', DATA_DIR: 'data', ADMIN_PASSWORD: testPassword };
  const module = "import { definePlugin } from 'ledgerplane/plugin';\nexport default definePlugin({});";
  const phases: unknown[] = [];
  for (const run of [1, 2]) {
    const running = runCommandLine(['serve'], { cwd, env });
    const [, url = ''] = /(http:\S+)/u.exec(await running.ready()) ?? [];
    const headers = { authorization: adminAuthorization };
    if (run === 1)
      await fetch(`${url}${installPath}`, {
        method: 'POST',
        headers,
        body: formWith(tellerPackage('1.0.0', { module })),
      });
    phases.push(
      ((await (await fetch(`${url}${pluginPath}/teller`, { headers })).json()) as { readonly status?: unknown }).status,
    );
    running.child.kill('SIGTERM');
    await running.exited();
  }
  t.match(phases, [{ phase: 'started' }, { phase: 'started' }]);
});

test('a module that throws is refused with the place', async (t) => {
  const server = await started(t);
  t.match(await install(server, tellerPackage('1.0.0', { module: "\n\nthrow new Error('on the third line');" })), {
    status: 422,
    body: { message: /on the third line \(at main\.js:3\)/u },
  });
});
