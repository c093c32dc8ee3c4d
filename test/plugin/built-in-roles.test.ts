import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'tap';

import { roleOf } from '../../src/access/role-object.ts';
import { builtInRoles } from '../../src/access/role-names.ts';
import { visitor, type Subject } from '../../src/command/subject.ts';
import { applyBuiltInRoles } from '../../src/plugin/objects/built-in-roles.ts';
import { decodeShippedObjects } from '../../src/plugin/objects/shipped-objects.ts';
import type { PluginLogger } from '../../src/plugin/api/plugin.ts';
import { requestInfo } from '../../src/resource/query/request-path.ts';
import { Access, binding, platform, refusal, role, rule, user } from '../support/access.ts';
import { domain } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { shown } from '../support/writing.ts';

const folder = resolve(import.meta.dirname, '../../../roles');

/** Applies the built-in roles as a start does; returns the log lines for the operator. */
async function started(access: Access, from = folder): Promise<readonly string[]> {
  const warnings: string[] = [];
  const note = (message: string, fields?: unknown): void => {
    warnings.push(`${message} ${JSON.stringify(fields)}`);
  };
  const log: PluginLogger = { debug: note, info: note, warn: note, error: note };
  let ids = 0;
  await access.settle(
    applyBuiltInRoles({
      execute: access.execute,
      reader: access.models,
      clock: access.clock,
      domain,
      folder: from,
      type: access.type('roles'),
      log,
      uuid: () => {
        ids += 1;
        return idOf(`request ${String(ids)}`);
      },
    }),
  );
  return warnings;
}

function namesOf(access: Access): readonly string[] {
  return [...access.permissions.roles()].map(({ name }) => name).sort();
}

test('a first start creates the built-in roles, a second one writes nothing', async (t) => {
  const access = await Access.open(t);
  t.strictSame(await started(access), []);
  const built = ['anonymous', 'authenticated', 'guest', 'post-author', 'post-contributor', 'post-editor', 'super-role'];
  t.strictSame(
    namesOf(access).filter((name) => !name.startsWith('role-template-')),
    built,
  );
  t.strictSame(namesOf(access), [...builtInRoles].sort(), 'nobody else may take the name of one that is missing');
  const events = (await access.recorded()).length;
  t.strictSame(await started(access), []);
  t.equal((await access.recorded()).length, events);
});

test('they are well formed, named and grouped, and their references exist', async (t) => {
  const access = await Access.open(t);
  await started(access);
  const roles = [...access.permissions.roles()];
  const hidden = roles
    .filter(({ isHidden }) => isHidden)
    .map(({ name }) => name)
    .sort();
  t.strictSame(hidden, ['anonymous', 'authenticated']);
  for (const { name, malformed, displayName, module, isTemplate, dependencies, uiPermissions } of roles) {
    t.strictSame([malformed.length, displayName !== undefined, module !== undefined], [0, true, true], name);
    t.equal(isTemplate, name.startsWith('role-template-'), `${name} is a template or none`);
    t.ok(
      dependencies.every((other) => other.startsWith('content-') || access.permissions.role(other) !== undefined),
      `${name} depends on what there is`,
    );
    t.ok(
      uiPermissions.every((permission) => permission.startsWith('plugin:platform:')),
      name,
    );
    t.match(access.object('roles', name)?.['status'], { conditions: [{ type: 'Valid', status: 'True' }] });
  }
});

test('the rights of everybody, and the ones of authenticated users only', async (t) => {
  const access = await Access.open(t);
  await started(access);
  await access.given(
    user('alice'),
    user('gus'),
    binding('guests', 'guest', 'gus'),
    user('root'),
    binding('roots', 'super-role', 'root'),
  );
  const uc = `/apis/uc.api.${domain}/v1alpha1`;
  const console = `/apis/api.console.${domain}/v1alpha1`;
  const open = [
    'GET /healthz',
    'GET /livez',
    'HEAD /readyz',
    'GET /version',
    'GET /api',
    'GET /apis',
    'GET /api/v1alpha1',
    'GET /apis/example.com',
    'GET /apis/example.com/v1',
    'POST /login',
  ];
  const own = [
    `GET ${uc}/users/-`,
    `PUT ${uc}/users/-`,
    `PUT ${uc}/users/-/password`,
    `GET ${uc}/personalaccesstokens`,
    `POST ${uc}/personalaccesstokens`,
    `GET ${uc}/personalaccesstokens/t`,
    `PATCH ${uc}/personalaccesstokens/t`,
    `DELETE ${uc}/personalaccesstokens/t`,
    `GET ${uc}/sessions`,
    `DELETE ${uc}/sessions`,
    `GET ${uc}/sessions/-`,
    `DELETE ${uc}/sessions/s`,
    `GET ${console}/users/-/permissions`,
    `POST ${console}/deletionpreviews`,
    'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
    'POST /logout',
  ];
  const closed = [
    'GET /metrics',
    'DELETE /healthz',
    'GET /apis/example.com/v1/a/b/c/d',
    'GET /login',
    'GET /api/v1alpha1/users',
    'GET /api/v1alpha1/users/alice',
    'POST /api/v1alpha1/rolebindings',
    `GET ${uc}/users/bob`,
    `PUT ${uc}/users/bob/password`,
    `POST ${uc}/sessions`,
    `PATCH ${uc}/sessions/s`,
    `GET ${console}/users/bob/permissions`,
    `POST ${console}/users/-/permissions`,
    `GET ${console}/roletemplates`,
    'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
    `GET /apis/content.${domain}/v1alpha1/posts`,
  ];
  const may = (subject: Subject, asked: string): boolean => {
    const [method = '', target = ''] = asked.split(' ');
    const request = requestInfo(method, target, 'no watch');
    return (
      request.kind !== 'malformed' && access.permissions.rightsOf(subject).find(request, () => undefined) !== undefined
    );
  };
  const allowed = (subject: Subject): readonly string[] =>
    [...open, ...own, ...closed].filter((asked) => may(subject, asked));
  t.strictSame(allowed(visitor), open);
  t.strictSame(allowed(access.user('alice')), [...open, ...own]);
  t.strictSame(allowed(access.user('gus')), [...open, ...own], 'a guest');
  t.strictSame(allowed(access.user('root')), [...open, ...own, ...closed]);
});

test('the templates let users manage users and roles, within their own rights', async (t) => {
  const access = await Access.open(t);
  await started(access);
  await access.given(
    user('uma'),
    binding('um', 'role-template-manage-users', 'uma'),
    user('root'),
    binding('roots', 'super-role', 'root'),
  );
  const may = (verb: string, target: string): boolean => {
    const request = requestInfo(verb, target, 'no watch');
    return (
      request.kind !== 'malformed' &&
      access.permissions.rightsOf(access.user('uma')).find(request, () => undefined) !== undefined
    );
  };
  t.ok(['GET', 'DELETE', 'PUT'].every((method) => may(method, '/api/v1alpha1/users/root')));
  t.notOk(may('PUT', '/api/v1alpha1/roles/guest'));
  t.equal(
    refusal(await access.as('uma').patch('users', 'root', { spec: { password: 'a new password' } })),
    'forbidden',
  );
});

test('the next start creates a deleted role again', async (t) => {
  const access = await Access.open(t);
  await started(access);
  await access.given(user('root'), binding('roots', 'super-role', 'root'));
  shown(await access.as('root').patch('roles', 'guest', { metadata: { finalizers: ['example.com/hold'] } }));
  shown(await access.as('root').delete('roles', 'guest'));
  t.strictSame(await started(access), [], 'a role marked for deletion is left alone');
  shown(await access.as(platform).collect('roles', 'guest'));
  t.notOk(namesOf(access).includes('guest'));
  await started(access);
  t.ok(namesOf(access).includes('guest'));
});

test("an administrator's change is kept; nobody changes the super administrator", async (t) => {
  const access = await Access.open(t);
  await started(access);
  await access.given(user('root'), binding('roots', 'super-role', 'root'));
  const rules = [rule('get', 'posts')];
  shown(await access.as('root').patch('roles', 'anonymous', { rules }));
  shown(
    await access.as('root').patch('roles', 'guest', {
      metadata: { annotations: { [`rbac.authorization.${domain}/display-name`]: 'Visitor' } },
    }),
  );
  t.strictSame(await started(access), []);
  t.strictSame(access.object('roles', 'anonymous')?.['rules'], rules);
  t.equal(access.permissions.role('guest')?.displayName, 'Visitor');
  t.equal(refusal(await access.as('root').patch('roles', 'super-role', { rules: [] })), 'forbidden');
  t.equal(refusal(await access.as('root').delete('roles', 'super-role')), 'forbidden');
});

test("on a conflict the administrator's change wins and is logged", async (t) => {
  const access = await Access.open(t);
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-roles-'));
  t.teardown(async () => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'a.yaml');
  await writeFile(
    file,
    JSON.stringify(role('guest', [rule('get', 'a')], { annotations: { 'example.com/note': 'one' } })),
  );
  await started(access, dir);
  await access.given(user('root'), role('super-role'), binding('roots', 'super-role', 'root'));
  shown(await access.as('root').patch('roles', 'guest', { rules: [rule('get', 'b')] }));
  await writeFile(
    file,
    JSON.stringify(role('guest', [rule('get', 'c')], { annotations: { 'example.com/note': 'two' } })),
  );
  t.match(await started(access, dir), [/the values of the users are kept.*"guest".*\/rules/u]);
  const stored = access.object('roles', 'guest')!;
  t.strictSame(
    [roleOf(stored, domain).rules.length, stored['rules'], stored.metadata.annotations?.['example.com/note']],
    [1, [rule('get', 'b')], 'two'],
  );
  await writeFile(file, '- no role');
  await t.rejects(started(access, dir), /built-in roles are damaged: a\.yaml/u);
  await writeFile(file, '{');
  await t.rejects(started(access, dir), /built-in roles are damaged: a\.yaml/u);
});

test('a role that cannot be written is logged, and the others are created', async (t) => {
  const access = await Access.open(t);
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-roles-'));
  t.teardown(async () => rm(dir, { recursive: true, force: true }));
  await writeFile(join(dir, 'a.yaml'), JSON.stringify(role('bad', [{ verbs: [] }])));
  await writeFile(join(dir, 'b.yaml'), JSON.stringify(role('good')));
  t.match(await started(access, dir), [/could not apply a built-in role.*"bad"/u]);
  t.strictSame(namesOf(access), ['good']);
});

test('a plugin ships no users, tokens and sessions', async (t) => {
  for (const kind of ['User', 'PersonalAccessToken', 'Session']) {
    const text = JSON.stringify({ apiVersion: 'v1alpha1', kind, metadata: { name: 'x' } });
    const decoded = decodeShippedObjects([{ path: 'a.yaml', file: { ok: true, text } }], { plugin: 'p', domain });
    t.match(decoded, { ok: false, problems: [/cannot ship objects that contain secrets/u] }, kind);
  }
});
