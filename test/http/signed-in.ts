import type { Test } from 'tap';

import { Authenticator } from '../../src/auth/authenticator.ts';
import { Passwords } from '../../src/auth/password.ts';
import type { ApiRequest } from '../../src/auth/permission-reader.ts';
import { Secrets } from '../../src/auth/secrets.ts';
import { actorOf, type Subject } from '../../src/command/subject.ts';
import { accountRoutes } from '../../src/http/account-routes.ts';
import { permissionRoutes } from '../../src/http/permission-routes.ts';
import { reviewRoutes } from '../../src/http/review-routes.ts';
import { tokenRoutes } from '../../src/http/token-routes.ts';
import { TypeRegistry } from '../../src/plugin/type-registry.ts';
import { Access, binding, everythingRules, pathRule, role, rule, user } from '../support/access.ts';
import { domain } from '../support/given.ts';
import { startEdge } from './edge-server.ts';

/** What everybody logged in may do here. */
const own = [
  rule('get,update', 'users,users/password', { apiGroups: [`uc.api.${domain}`], resourceNames: ['-'] }),
  rule('*', 'personalaccesstokens', { apiGroups: [`uc.api.${domain}`] }),
  rule('get,create', 'users/permissions', { apiGroups: [`api.console.${domain}`], resourceNames: ['-'] }),
  rule('create', '*', { apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'] }),
];

const hidden = { labels: { [`${domain}/hidden`]: 'true' } };

/** An answer, read to its end. */
export type Reply = { readonly status: number; readonly headers: Response['headers']; readonly text: string; readonly body: ReturnType<typeof JSON.parse> };

/**
 * The routes of access control over the real door, rules, tables, passwords and authentication, called by several users:
 * `as('alice')('GET', path)`. Who is made here logs in with a password of theirs; undefined is a visitor.
 */
export async function startSignedIn(t: Test, ...users: readonly string[]) {
  const access = await Access.open(t);
  const { models: reader, execute, permissions, clock, log } = access;
  await access.given(
    role('super-role', everythingRules, { labels: { [`${domain}/role-template`]: 'true' } }), role('authenticated', own, hidden), role('anonymous', [pathRule('get', '/healthz')], hidden),
    user('admin', { password: passwordOf('admin') }), binding('admin-super', 'super-role', 'admin'),
    ...users.map((name) => user(name, { password: passwordOf(name), displayName: name })),
  );
  const registry = new TypeRegistry();
  for (const type of access.types.values()) {
    registry.register(type);
    registry.serve(type.key);
  }
  const authenticator = new Authenticator({ secrets: new Secrets(log, clock), passwords: new Passwords(), permissions, clock, noteUse: () => undefined });
  const authorize = (subject: Subject, request: ApiRequest) => {
    const grant = permissions.rightsOf(subject).find(request, () => undefined);
    return grant === undefined ? { allowed: false, reason: `${actorOf(subject)} may not ${request.verb} ${request.path}` } as const : { allowed: true, grant } as const;
  };
  const parts = { domain, registry, reader, execute, permissions };
  const edge = await startEdge({
    clock, registry, reader, feed: reader, execute, authorize,
    authenticate: (authorization, address) => authenticator.authenticate({ authorization, cookie: undefined, address }),
    platformRoutes: [
      ...accountRoutes({ ...parts, verifyPassword: async (...given) => authenticator.verifyPassword(...given) }),
      ...tokenRoutes(parts), ...permissionRoutes(parts), ...reviewRoutes({ registry, permissions, authorize }),
    ],
  });
  t.teardown(async () => edge.stop());

  const as = (name: string | undefined) => async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> => {
    const response = await fetch(edge.url + path, {
      method,
      headers: { ...(name === undefined ? {} : { authorization: authorizationOf(name) }), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === '' ? {} : JSON.parse(text) };
  };
  /** Makes an object of the core group, as the administrator. */
  const make = async (plural: string, object: object) => {
    const made = await as('admin')('POST', `/api/v1alpha1/${plural}`, object);
    if (made.status !== 201) throw new Error(`${plural}: ${made.text}`);
    return made;
  };
  const makeUser = async (name: string) => make('users', { metadata: { name }, spec: { password: passwordOf(name), displayName: name } });
  return { as, make, makeUser };
}

function passwordOf(name: string): string {
  return `password of ${name}`;
}

function authorizationOf(name: string): string {
  return `Basic ${Buffer.from(`${name}:${passwordOf(name)}`).toString('base64')}`;
}
