import { join } from 'node:path';

import { test } from 'tap';

import { roleOf } from '../../src/access/role-object.ts';
import type { ApiRequest } from '../../src/read/permission-reader.ts';
import type { Subject } from '../../src/command/subject.ts';
import { PluginRoutes } from '../../src/http/plugin-routes/plugin-routes.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { AccessWorld, bindingWrite } from '../access/access-world.ts';
import { repository } from '../architecture/repository.ts';
import { Outboxes } from '../../src/watch/outbox.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { requestInfo } from '../../src/resource/query/request-path.ts';
import { domain, openStage, temporaryFolder, type Stage } from './host/host-stage.ts';

const names = [
  'content-comments-manage',
  'content-comments-moderate',
  'content-comments-view',
  'content-own-comments',
  'content-own-posts',
  'content-own-posts-publish',
  'content-posts-manage',
  'content-posts-view',
  'content-public',
  'example-widgets-manage',
  'example-widgets-view',
];

type RoleObject = ResourceObject & {
  readonly rules: readonly unknown[];
  readonly status: { readonly conditions: readonly { readonly status: string }[] };
};

function rolesOf(stage: Stage): readonly RoleObject[] {
  return names.map((name) => {
    const object: unknown = stage.object('roles', name);
    if (object === undefined) throw new Error(`no role ${name}`);
    return object as RoleObject;
  });
}

/**
 * The rights of a user with one role beside everybody's, or of a visitor; the registry and the routes name a plugin's
 * types and paths.
 */
function decisions(stage: Stage): (role: string | undefined, method: string, path: string) => boolean {
  const world = new AccessWorld();
  world.commit([
    ...rolesOf(stage).map(
      ({ metadata: { name, labels, annotations }, rules }) =>
        ({ plural: 'roles', name, members: { rules }, metadata: { labels, annotations }, state: 'live' }) as const,
    ),
    ...['anonymous', 'authenticated'].map(
      (name) => ({ plural: 'roles', name, members: { rules: [] }, state: 'live' }) as const,
    ),
  ]);
  const tables = world.fresh();
  const routes = new PluginRoutes({
    clock: new FakeClock(),
    outboxes: new Outboxes(new FakeClock()),
    log: silent,
    loggerOf: () => silent,
    allows: () => true,
    clientsOf: () => {
      throw new Error('nothing is called');
    },
  });
  for (const [plugin, endpoints] of stage.routes) routes.mount(plugin, endpoints);
  const pluginOf = (request: ApiRequest): string | undefined =>
    (request.kind === 'resource'
      ? stage.registry.byPath(request.group, request.version, request.resource)?.type.plugin
      : undefined) ?? routes.pluginOf(request.segments);
  return (role, method, path) => {
    const request = requestInfo(method, path, 'no watch');
    if (request.kind === 'malformed') throw new Error(request.detail);
    if (role === undefined) return tables.rightsOf({ kind: 'visitor' }).find(request, pluginOf) !== undefined;
    world.commit([bindingWrite('b', { role, users: ['ann'] })]);
    const subject: Subject = { kind: 'user', name: 'ann', credential: { kind: 'password', uid: 'u' } };
    return world.fresh().rightsOf(subject).find(request, pluginOf) !== undefined;
  };
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

test('the bundled plugins ship templates that the platform accepts and understands', async (t) => {
  const stage = await openStage(t, {
    dataDir: await temporaryFolder(t),
    bundled: [join(repository, 'dist', 'plugins')],
  });
  t.same(
    [stage.ready('content'), stage.ready('example')].map((text) => text.split(':')[0]),
    ['Started', 'Started'],
  );
  const objects = rolesOf(stage);
  for (const role of objects.map((object) => roleOf(object, domain))) {
    t.same(role.malformed, [], role.name);
    t.ok(role.isTemplate && role.module !== undefined && role.displayName !== undefined, `${role.name} is shown`);
    const plugin = role.name.split('-', 1)[0] ?? '';
    t.ok(
      role.uiPermissions.length > 0 &&
        role.uiPermissions.every((permission) => permission.startsWith(`plugin:${plugin}:`)),
      `${role.name} is visible to front ends`,
    );
    t.ok(
      role.dependencies.every((name) => names.includes(name)),
      `${role.name} depends on existing roles`,
    );
    t.ok(
      role.rules.every((rule) => rule.kind === 'resource' && rule.apiGroups.length > 0),
      `${role.name} speaks of resources of its groups`,
    );
  }
  t.same(
    objects
      .filter((object) => roleOf(object, domain).aggregatesTo.length > 0)
      .map((object) => [object.metadata.name, roleOf(object, domain).aggregatesTo, roleOf(object, domain).isHidden]),
    [
      ['content-own-comments', ['authenticated'], true],
      ['content-public', ['anonymous'], true],
    ],
  );
  await stage.close();
});

test('each template allows exactly its stated rights', async (t) => {
  const stage = await openStage(t, {
    dataDir: await temporaryFolder(t),
    bundled: [join(repository, 'dist', 'plugins')],
  });
  const decide = decisions(stage);
  const [posts, own, open, widgets] = [
    `/apis/content.${domain}/v1alpha1/posts`,
    `/apis/uc.api.content.${domain}/v1alpha1/posts`,
    `/apis/api.content.${domain}/v1alpha1`,
    '/apis/example.com/v1alpha1/widgets',
  ];
  const [comments, ownComments, console] = [
    `/apis/content.${domain}/v1alpha1/comments`,
    `/apis/uc.api.content.${domain}/v1alpha1/comments`,
    `/apis/console.api.content.${domain}/v1alpha1`,
  ];
  const requests: Readonly<Record<string, readonly [string, string]>> = {
    'list posts': ['GET', posts],
    'get post': ['GET', `${posts}/a`],
    'create post': ['POST', posts],
    'update post': ['PUT', `${posts}/a`],
    'delete posts': ['DELETE', posts],
    'publish post': ['PUT', `${console}/posts/a/publish`],
    'unpublish post': ['PUT', `${console}/posts/a/unpublish`],
    'list own': ['GET', own],
    'create own': ['POST', own],
    'patch own': ['PATCH', `${own}/a`],
    'delete own': ['DELETE', `${own}/a`],
    'publish own': ['PUT', `${own}/a/publish`],
    'unpublish own': ['PUT', `${own}/a/unpublish`],
    'read published': ['GET', `${open}/posts`],
    'read one published': ['GET', `${open}/posts/a`],
    'read tags': ['GET', `${open}/tags`],
    'read approved comments': ['GET', `${open}/posts/a/comments`],
    'submit comment': ['POST', `${open}/posts/a/comments`],
    'list comments': ['GET', comments],
    'create comment': ['POST', comments],
    'update comment': ['PUT', `${comments}/a`],
    'list own comments': ['GET', ownComments],
    'delete own comment': ['DELETE', `${ownComments}/a`],
    'patch own comment': ['PATCH', `${ownComments}/a`],
    'list waiting comments': ['GET', `${console}/comments`],
    'approve comment': ['PUT', `${console}/comments/a/approve`],
    'read counts': ['GET', `${console}/counts`],
    'list widgets': ['GET', widgets],
    'update widget': ['PUT', `${widgets}/a`],
    'read widget status': ['GET', `${widgets}/a/status`],
    'update widget status': ['PUT', `${widgets}/a/status`],
  };
  const everybody = ['read published', 'read one published', 'read tags', 'read approved comments'];
  const loggedIn = ['submit comment', 'list own comments', 'delete own comment'];
  const view = ['list posts', 'get post'];
  const submit = ['list own', 'create own', 'patch own', 'delete own'];
  const table: Readonly<Record<string, readonly string[]>> = {
    '': [],
    'content-posts-view': view,
    'content-posts-manage': [...view, 'create post', 'update post', 'delete posts', 'publish post', 'unpublish post'],
    'content-own-posts': submit,
    'content-own-posts-publish': [...submit, 'publish own', 'unpublish own'],
    'content-comments-view': ['list comments'],
    'content-comments-manage': ['list comments', 'create comment', 'update comment'],
    'content-comments-moderate': ['list waiting comments', 'approve comment', 'read counts'],
    'example-widgets-view': ['list widgets', 'read widget status'],
    'example-widgets-manage': ['list widgets', 'read widget status', 'update widget', 'update widget status'],
  };
  for (const [role, expected] of Object.entries(table)) {
    const allowed = Object.entries(requests)
      .filter(([, [method, path]]) => decide(role === '' ? undefined : role, method, path))
      .map(([what]) => what);
    t.same(
      allowed.sort(),
      [...expected, ...everybody, ...(role === '' ? [] : loggedIn)].sort(),
      role === '' ? 'a visitor' : role,
    );
  }
  await stage.close();
});
