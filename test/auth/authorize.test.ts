import t from 'tap';

import { authorize } from '../../src/auth/authorize.ts';
import { visitor, type Subject } from '../../src/command/subject.ts';
import { requestInfo } from '../../src/resource/request-path.ts';

const jane: Subject = { kind: 'user', name: 'jane', credential: { kind: 'password', uid: 'u' } };
const admin: Subject = { kind: 'user', name: 'admin', credential: { kind: 'password', uid: 'u' } };

function allowed(subject: Subject, method: string, target: string, asks: 'watch' | 'no watch' = 'no watch'): boolean {
  const info = requestInfo(method, target, asks);
  if (info.kind === 'malformed') throw new Error(`${target} is malformed`);
  return authorize(subject, info).allowed;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const open = ['/healthz', '/livez', '/readyz', '/version', '/api', '/api/v1', '/apis', '/apis/g', '/apis/g/v1', '//apis//g/', '/%61pis'];
const closed = [
  '/', '/login', '/metrics', '/openapi/v2', '/healthz/log', '/version/x', '/apis/g/v1/things', '/apis/g/v1/things/x', '/apis/g/v1/things/x/status',
  '/apis/g/v1/things/x/status/y', '/api/v1/users', '/api/v1/users/-', '/api/v1/users/x/y/z',
];

t.test('whoever is not the super administrator may read health, version and discovery, and nothing else', async (t) => {
  for (const subject of [visitor, jane]) {
    for (const method of methods) {
      for (const path of open) t.equal(allowed(subject, method, path), method === 'GET' || method === 'HEAD', `${method} ${path}`);
      for (const path of closed) t.equal(allowed(subject, method, path), false, `${method} ${path}`);
    }
    t.equal(allowed(subject, 'GET', '/apis/g/v1/things', 'watch'), false);
  }
});

t.test('the super administrator may do everything', async (t) => {
  for (const method of methods) for (const path of [...open, ...closed]) t.equal(allowed(admin, method, path), true, `${method} ${path}`);
});

t.test('a refusal names verb, resource and name as they were asked for', async (t) => {
  const reasonOf = (subject: Subject, method: string, target: string): string => {
    const info = requestInfo(method, target, 'no watch');
    const answer = info.kind === 'malformed' ? undefined : authorize(subject, info);
    return answer?.allowed === false ? answer.reason : '';
  };
  t.equal(reasonOf(jane, 'DELETE', '/apis/g/v1/things/x'), 'things.g "x" is forbidden: User "jane" cannot delete resource "things" in API group "g"');
  t.equal(reasonOf(jane, 'PUT', '/api/v1/users/x/status'), 'users "x" is forbidden: User "jane" cannot update resource "users/status" in API group ""');
  t.equal(reasonOf(visitor, 'POST', '/login'), 'forbidden: a visitor who is not logged in cannot create path "/login"');
});
