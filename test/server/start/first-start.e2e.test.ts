/** What a caller with the right credentials is answered before the first administrator exists. */
import { test } from 'tap';

import type { HashRequest, HashResult } from '../../../src/auth/passwords/password-hash-queue.ts';
import { noHashCost, Passwords } from '../../../src/auth/passwords/password.ts';
import { ask } from '../../support/ask.ts';
import { adminAuthorization, startTestServer, testPassword } from '../../support/server/start-server.ts';

/** Hashes wait for the test: the administrator's is the first one made. */
class HeldPasswords extends Passwords {
  readonly asked: Promise<void>;
  #began: () => void = () => undefined;
  #release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  constructor() {
    super(noHashCost);
    this.asked = new Promise((resolve) => {
      this.#began = resolve;
    });
  }

  override async hash(password: string, turn: HashRequest): Promise<HashResult<string>> {
    this.#began();
    await this.#released;
    return super.hash(password, turn);
  }

  release(): void {
    this.#release();
  }
}

const json = { 'content-type': 'application/json' };
const login = JSON.stringify({ username: 'admin', password: testPassword });
const shown = [
  { what: 'Basic', asked: { headers: { authorization: adminAuthorization } } },
  { what: 'a wrong password', asked: { headers: { authorization: 'Basic YWRtaW46d3Jvbmc=' } } },
  { what: 'a token', asked: { headers: { authorization: `Bearer pat_${'a'.repeat(32)}_${'x'.repeat(43)}` } } },
  { what: 'another token', asked: { headers: { authorization: 'Bearer x.y.z' } } },
  { what: 'a session', asked: { headers: { cookie: `ledgerplane_session=ses_${'0'.repeat(32)}_${'a'.repeat(43)}` } } },
  { what: 'nothing', asked: {} },
  { what: 'a socket', asked: { upgrade: true, headers: { authorization: adminAuthorization } } },
  { what: 'events', asked: { headers: { authorization: adminAuthorization, accept: 'text/event-stream' } } },
] as const;

test('no credential is verified before the first administrator exists, and probes are answered', async (t) => {
  const passwords = new HeldPasswords();
  let url = '';
  const starting = startTestServer({
    passwords,
    onListening: (at) => {
      url = at;
    },
  });
  await passwords.asked;
  for (const { what, asked } of shown) {
    for (const path of ['/api/v1alpha1/users', '/apis/example.com/v1alpha1/widgets', '/apis', '/nowhere']) {
      const { status, headers } = await ask(url, path, asked);
      t.match([status, headers['retry-after'], headers['www-authenticate']], [503, '1', undefined], `${what} ${path}`);
    }
    for (const path of ['/healthz', '/livez', '/version']) t.equal((await ask(url, path, asked)).status, 200, path);
    t.equal((await ask(url, '/readyz', asked)).status, 503);
  }
  for (const headers of [json, { ...json, authorization: adminAuthorization }]) {
    const answered = await ask(url, '/login', { method: 'POST', headers, body: login });
    t.match([answered.status, answered.headers['retry-after']], [503, '1'], 'POST /login');
  }
  passwords.release();
  const server = await starting;
  t.teardown(async () => server.remove());
  t.equal((await server.call('/api/v1alpha1/users')).status, 200);
  t.equal((await ask(server.url, '/login', { method: 'POST', headers: json, body: login })).status, 200);
  t.equal((await ask(server.url, '/api/v1alpha1/users', shown[1].asked)).status, 401);
});

test('a right password is never refused as wrong, at the first start and the next', async (t) => {
  const seen = new Set<number>();
  const callers: Promise<void>[] = [];
  const callUntilServed = async (url: string): Promise<void> => {
    for (let status = 0; status !== 200;) {
      ({ status } = await ask(url, '/api/v1alpha1/users', { headers: { authorization: adminAuthorization } }));
      seen.add(status);
    }
  };
  const first = await startTestServer({
    onListening: (url) => {
      callers.push(callUntilServed(url));
    },
  });
  await Promise.all(callers);
  const second = await first.restart();
  t.teardown(async () => second.remove());
  await Promise.all(callers);
  seen.delete(200);
  t.strictSame(
    [...seen].filter((status) => status !== 503),
    [],
  );
});
