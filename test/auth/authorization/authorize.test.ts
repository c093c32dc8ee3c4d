import { test, type Test } from 'tap';

import { createAuthorizer, type Authorize } from '../../../src/auth/authorization/authorize.ts';
import { visitor, type Subject } from '../../../src/command/subject.ts';
import { requestInfo } from '../../../src/resource/query/request-path.ts';
import { Access, binding, pathRule, role, rule, user } from '../../support/access.ts';
import { MemoryPermissions } from '../../support/memory/memory-permissions.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const paths = [
  '/',
  '/login',
  '/metrics',
  '/openapi/v2',
  '/healthz',
  '/healthz/log',
  '/version/x',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/g',
  '/apis/g/v1',
  '/apis/g/v1/things',
  '/apis/g/v1/things/x',
  '/apis/g/v1/things/x/status',
  '/apis/g/v1/things/x/status/y',
  '/api/v1/users',
  '/api/v1/users/-',
  '/api/v1/users/x/y/z',
];

function asked(
  authorize: Authorize,
  subject: Subject,
  [method, target, asks = 'no watch']: readonly [string, string, ('watch' | 'no watch')?],
): ReturnType<Authorize> {
  const info = requestInfo(method, target, asks);
  if (info.kind === 'malformed') throw new Error(`${target} is malformed`);
  return authorize(subject, info);
}

async function open(t: Test): Promise<{ readonly access: Access; readonly authorize: Authorize }> {
  const access = await Access.open(t);
  const authorize = createAuthorizer({
    permissions: access.permissions,
    pluginOf: (request) => (request.segments[1] === 'content.example' ? 'content' : undefined),
  });
  return { access, authorize };
}

test('an empty table denies everything to everybody', async (t) => {
  const { access, authorize } = await open(t);
  await access.given(user('jane'));
  for (const subject of [visitor, access.user('jane')]) {
    for (const method of methods)
      for (const path of paths)
        t.equal(asked(authorize, subject, [method, path]).allowed, false, `${subject.kind} ${method} ${path}`);
    t.equal(asked(authorize, subject, ['GET', '/apis/g/v1/things', 'watch']).allowed, false);
  }
});

test('the super administrator may do everything', async (t) => {
  const { access, authorize } = await open(t);
  await access.given(user('root'), role('super-role'), binding('b', 'super-role', 'root'));
  for (const method of methods)
    for (const path of paths)
      t.equal(asked(authorize, access.user('root'), [method, path]).allowed, true, `${method} ${path}`);
});

test('an allowed decision names its role and rule', async (t) => {
  const { access, authorize } = await open(t);
  await access.given(
    user('jane'),
    role('keeper', [rule('get', 'things', { apiGroups: ['g'] }), pathRule('get', '/metrics')]),
    binding('b', 'keeper', 'jane'),
  );
  t.match(asked(authorize, access.user('jane'), ['GET', '/metrics']), {
    allowed: true,
    grant: { role: 'keeper', rule: { nonResourceURLs: ['/metrics'] } },
  });
  t.match(asked(authorize, access.user('jane'), ['GET', '/apis/g/v1/things/x']), {
    allowed: true,
    grant: { role: 'keeper', rule: { resources: ['things'] } },
  });
  t.equal(asked(authorize, access.user('jane'), ['GET', '/apis/g/v1/things']).allowed, false);
  t.equal(asked(authorize, visitor, ['GET', '/metrics']).allowed, false);
});

test('a rule may name a plugin', async (t) => {
  const { access, authorize } = await open(t);
  await access.given(
    user('jane'),
    role('reader', [rule('get', 'content/posts', { apiGroups: ['*'] })]),
    binding('b', 'reader', 'jane'),
  );
  t.equal(asked(authorize, access.user('jane'), ['GET', '/apis/content.example/v1/posts/x']).allowed, true);
  t.equal(asked(authorize, access.user('jane'), ['GET', '/apis/other.example/v1/posts/x']).allowed, false);
});

test('while the tables are unavailable only probes are allowed, and other requests are unavailable', async (t) => {
  const permissions = new MemoryPermissions();
  permissions.ready = false;
  const authorize = createAuthorizer({ permissions, pluginOf: () => undefined });
  const open = new Set(['/healthz', '/livez', '/readyz', '/version']);
  for (const method of methods) {
    for (const path of [...paths, ...open]) {
      const isOpen = open.has(path) && (method === 'GET' || method === 'HEAD');
      const answer = asked(authorize, visitor, [method, path]);
      t.equal(answer.allowed, isOpen, `${method} ${path}`);
      if (!answer.allowed) t.equal(answer.isUndecided, true, `${method} ${path} is not refused for good`);
    }
  }
});

test('a refusal names verb, resource and name of the request', async (t) => {
  const { access, authorize } = await open(t);
  await access.given(user('jane'));
  const reasonOf = (subject: Subject, method: string, target: string): string => {
    const answer = asked(authorize, subject, [method, target]);
    return answer.allowed ? '' : answer.reason;
  };
  t.equal(
    reasonOf(access.user('jane'), 'DELETE', '/apis/g/v1/things/x'),
    'things.g "x" is forbidden: User "jane" cannot delete resource "things" in API group "g"',
  );
  t.equal(
    reasonOf(access.user('jane'), 'PUT', '/api/v1/users/x/status'),
    'users "x" is forbidden: User "jane" cannot update resource "users/status" in API group ""',
  );
  const confined: Subject = {
    kind: 'user',
    name: 'jane',
    credential: { kind: 'token', uid: 't', userUid: 'u', name: 'script', roles: [] },
  };
  t.match(
    reasonOf(confined, 'GET', '/api/v1/users'),
    'User "jane" with the token "script", which is limited to some roles, cannot list',
  );
  t.equal(reasonOf(visitor, 'POST', '/login'), 'forbidden: an anonymous visitor cannot create path "/login"');
});
