import type { Test } from 'tap';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

/** An answer, read to its end. */
export type Reply = {
  readonly status: number;
  readonly headers: Response['headers'];
  readonly text: string;
  readonly body: ReturnType<typeof JSON.parse>;
};

/**
 * The whole server, called by several users: `as('alice')('GET', path)`. Users made here have a password and log in
 * with it; undefined is a visitor.
 */
export async function startSignedIn(t: Test, ...users: readonly string[]) {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const as =
    (name: string | undefined) =>
    async (
      method: string,
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Reply> => {
      const response = await fetch(server.url + path, {
        method,
        headers: {
          ...(name === undefined ? {} : { authorization: authorizationOf(name) }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
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
  const makeUser = async (name: string) =>
    make('users', { metadata: { name }, spec: { password: passwordOf(name), displayName: name } });
  for (const name of users) await makeUser(name);
  return { as, make, makeUser };
}

function passwordOf(name: string): string {
  return `password of ${name}`;
}

function authorizationOf(name: string): string {
  return name === 'admin'
    ? adminAuthorization
    : `Basic ${Buffer.from(`${name}:${passwordOf(name)}`).toString('base64')}`;
}
