import { test, type Test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { Administration, as, core, passwordOf } from '../../support/server/administration.ts';
import { ask, type Answered } from '../../support/ask.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';

/** A user with all writes of access control and nothing else, against users with more rights, on a running server. */
async function opened(
  test: Test,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly server: TestServer; readonly administration: Administration; readonly mary: Mary }> {
  const server = await startTestServer({ environment });
  test.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  for (const name of ['mary', 'walt', 'ann']) await administration.user(name);
  const resources = ['users', 'roles', 'rolebindings', 'personalaccesstokens', 'sessions'];
  await administration.role('manager', {
    rules: [
      { apiGroups: [''], resources, verbs: ['*'] },
      { apiGroups: ['api.console.svc.run'], resources: ['*'], verbs: ['*'] },
    ],
  });
  await administration.role('writer', {
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['create'] }],
  });
  await administration.bind('managers', 'manager', 'mary');
  await administration.bind('writers', 'writer', 'walt');
  for (const name of ['walt', 'ann']) {
    await administration.call(
      'POST',
      '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens',
      { metadata: { name: `of-${name}` }, spec: {} },
      { headers: as(name) },
    );
    await ask(server.url, '/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: name, password: passwordOf(name) }),
    });
  }
  const mary: Mary = async (method, path, body) =>
    ask(server.url, path, {
      method,
      headers: {
        ...as('mary'),
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { server, administration, mary };
}

type Mary = (method: string, path: string, body?: unknown) => Promise<Answered>;

test('nobody disables, deletes, logs out or unbinds a user with more rights', async (test) => {
  const { server, administration, mary } = await opened(test);
  const before = await everything(administration);
  const console = '/apis/api.console.svc.run/v1alpha1/users';
  const walt = await administration.object('users', 'walt');
  const deeds: readonly (readonly [string, string, unknown?])[] = [
    ['PATCH', core('users', 'admin'), { spec: { disabled: true } }],
    ['DELETE', core('users', 'admin')],
    ['PATCH', core('users', 'admin'), { spec: { email: 'x@example.com' } }],
    ['PUT', core('users', 'walt'), { ...walt, spec: { ...walt['spec'], disabled: true } }],
    ['DELETE', core('users', 'walt')],
    ['PATCH', core('users', 'walt'), { spec: { password: 'another password' } }],
    ['DELETE', `${core('users')}?fieldSelector=metadata.name%3Dwalt`],
    ['DELETE', core('personalaccesstokens', 'of-walt')],
    ['PATCH', core('personalaccesstokens', 'of-walt'), { spec: { revoked: true } }],
    ['DELETE', `${core('personalaccesstokens')}?fieldSelector=metadata.name%3Dof-walt`],
    ['DELETE', `${core('sessions')}?fieldSelector=spec.user%3Dwalt`],
    ['DELETE', core('rolebindings', 'writers')],
    ['DELETE', `${core('rolebindings')}?fieldSelector=metadata.name%3Dwriters`],
    ['PATCH', core('rolebindings', 'writers'), { subjects: [{ kind: 'User', name: 'ann' }] }],
    ['POST', `${console}/walt/permissions`, { roles: [] }],
    ['POST', `${console}/admin/permissions`, { roles: ['manager'] }],
    ['DELETE', core('roles', 'anonymous')],
    ['DELETE', core('roles', 'authenticated')],
    ['DELETE', `${core('roles')}?fieldSelector=metadata.name%3Danonymous`],
    [
      'PATCH',
      core('roles', 'anonymous'),
      { metadata: { annotations: { 'rbac.authorization.svc.run/dependencies': '["writer"]' } } },
    ],
    [
      'PATCH',
      core('roles', 'writer'),
      { metadata: { labels: { 'rbac.authorization.svc.run/aggregate-to-anonymous': 'true' } } },
    ],
  ];
  for (const [method, path, body] of deeds) {
    const answer = await mary(method, path, body);
    test.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
  }
  test.strictSame(await everything(administration), before, 'nothing has changed');
  test.equal(
    (await server.call(core('roles', 'anonymous'), { method: 'DELETE' })).status,
    403,
    'nor by a super administrator',
  );
  for (const [method, path, body] of [
    ['DELETE', core('personalaccesstokens', 'of-ann')],
    ['DELETE', `${core('sessions')}?fieldSelector=spec.user%3Dann`],
    ['PATCH', core('users', 'ann'), { spec: { disabled: true } }],
    ['DELETE', core('users', 'ann')],
  ] as const)
    test.equal((await mary(method, path, body)).status, 200, `${method} ${path}: ann may do nothing more`);
});

async function everything(administration: Administration): Promise<unknown> {
  const texts = await Promise.all(
    ['users', 'personalaccesstokens', 'sessions', 'rolebindings'].map(
      async (plural) => (await administration.call('GET', core(plural))).text,
    ),
  );
  return texts.map((text) =>
    (
      JSON.parse(text) as {
        readonly items: readonly {
          readonly metadata: { readonly name: string };
          readonly spec: unknown;
          readonly subjects: unknown;
        }[];
      }
    ).items.map(({ metadata: { name }, spec, subjects }) => ({ name, spec, subjects })),
  );
}

test("a plugin's files cannot give a role an owner", async (test) => {
  const folder = await temporaryFolder(test);
  const owners = [{ apiVersion: 'v1', kind: 'Gone', name: 'gone', uid: 'gone' }];
  const shipped = [
    { apiVersion: 'v1alpha1', kind: 'Role', metadata: { name: 'bad-role', ownerReferences: owners }, rules: [] },
    { apiVersion: 'v1alpha1', kind: 'Role', metadata: { name: 'authenticated', ownerReferences: owners }, rules: [] },
  ];
  await writePlugins(folder, {
    bad: {
      'plugin.yaml': manifestYaml('bad'),
      'extensions/objects.yaml': shipped.map((object) => JSON.stringify(object)).join('\n---\n'),
    },
  });
  const { server, administration } = await opened(test, { PLUGINS_DIRS: folder });
  test.notOk('ownerReferences' in (await administration.object('roles', 'authenticated'))['metadata']);
  test.equal((await server.call(core('roles', 'bad-role'))).status, 404);
  const plugin = await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/bad')).text();
  test.match(plugin, /ownerReferences/u, 'the Plugin says why');
});
