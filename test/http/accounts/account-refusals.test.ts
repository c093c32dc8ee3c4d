import t, { test } from 'tap';

import type { NotAuthenticated } from '../../../src/auth/authentication/authenticated.ts';
import type { Subject } from '../../../src/command/subject.ts';
import { accountRoutes } from '../../../src/http/platform/account-routes.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { Access, user } from '../../support/access.ts';
import { startEdge } from '../edge-server.ts';

const account = '/apis/uc.api.svc.run/v1alpha1/users/-';

const access = await Access.open(t);
await access.given(user('alice'));
const carol: Subject = {
  kind: 'user',
  name: 'oidc:carol',
  credential: { kind: 'oidc', expiresAt: Number.MAX_SAFE_INTEGER },
};
let verified: NotAuthenticated = { ok: false, reason: 'unauthorized', detail: 'wrong' };

const registry = new TypeRegistry();
const users = access.type('users');
const edge = await startEdge({
  registry,
  reader: access.models,
  feed: access.models,
  execute: access.execute,
  authenticate: ({ authorization }) => ({
    ok: true,
    subject: authorization === 'carol' ? carol : access.user('alice'),
  }),
  authorize: () => ({ allowed: true }),
  platformRoutes: accountRoutes({
    domain: 'svc.run',
    registry,
    reader: access.models,
    execute: access.execute,
    refusals: { logInFailed: () => undefined },
    verifyPassword: async () => Promise.resolve(verified),
  }),
});
t.teardown(async () => edge.stop());

const call = async (as: string, method: string, path: string, body?: object) =>
  edge.call(path, {
    method,
    headers: { authorization: as, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test('while User objects are not served there is no account to change', async (t) => {
  t.equal((await call('alice', 'GET', account)).status, 404);
  registry.register(users);
  t.equal((await call('alice', 'GET', account)).status, 503);
  registry.serve(users.key);
  t.equal((await call('alice', 'GET', account)).status, 200);
});

test('a caller without a User object has no account', async (t) => {
  t.equal((await call('carol', 'GET', account)).status, 404);
  t.equal((await call('carol', 'PUT', account, {})).status, 404);
  t.equal(
    (await call('carol', 'PUT', `${account}/password`, { currentPassword: 'x', password: 'long enough' })).status,
    404,
  );
});

test('attempts at the current password are bounded like log-ins; a check that cannot run is no attempt', async (t) => {
  const change = { currentPassword: 'a guess', password: 'long enough' };
  const refused = async (answer: NotAuthenticated) => {
    verified = answer;
    return call('alice', 'PUT', `${account}/password`, change);
  };
  t.equal((await refused({ ok: false, reason: 'unauthorized', detail: 'wrong' })).status, 422);
  const bounded = await refused({ ok: false, reason: 'too-many-requests', detail: 'too many', retryAfterSeconds: 9 });
  t.equal(bounded.status, 429);
  t.equal(bounded.headers.get('retry-after'), '9');
  const undecided = await refused({ ok: false, reason: 'unavailable', detail: 'not now', retryAfterSeconds: 1 });
  t.equal(undecided.status, 503);
});
