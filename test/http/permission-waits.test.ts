import { test, type Test } from 'tap';

import { permissionWaitsPerUserMax } from '../../src/limits/access.ts';
import { Administration, as } from '../support/server/administration.ts';
import { passing, StoppedTime } from '../support/clocks/stopped-time.ts';

const own = '/apis/api.console.svc.run/v1alpha1/users/-/permissions';

type Headers = Readonly<Record<string, string>>;

/** A server whose time only passes in the test, and a user without roles. */
async function started(t: Test, user: string) {
  const { server, clock } = await StoppedTime.start(t);
  const administration = new Administration(server.url);
  await administration.user(user);
  const read = async (query = '', headers: Headers = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(`${server.url}${own}${query}`, { headers: { ...as(user), ...headers }, ...(signal && { signal }) });
  const known = async (): Promise<Headers> => ({ 'if-none-match': (await read()).headers.get('etag') ?? '' });
  return { server, clock, administration, read, known };
}

test('a request waits until a role is given, changed and taken', async (t) => {
  const { clock, administration, read, known } = await started(t, 'waiter');
  const rule = { apiGroups: [''], resources: ['users'], verbs: ['get'] };
  const changed = async (change: () => Promise<unknown>): Promise<string> => {
    const waiting = read('?wait=60', await known());
    await change();
    const response = await passing(clock, waiting);
    t.equal(response.status, 200);
    return response.text();
  };
  t.match(
    await changed(async () => {
      await administration.role('waited', { rules: [rule], annotations: {} });
      await administration.bind('waited', 'waited', 'waiter');
    }),
    '"waited"',
  );
  const annotations = { 'rbac.authorization.svc.run/ui-permissions': '["plugin:w:new"]' };
  t.match(
    await changed(async () =>
      administration.call('PATCH', '/api/v1alpha1/roles/waited', { metadata: { annotations } }),
    ),
    'plugin:w:new',
    'a change that is no grant of requests counts too',
  );
  t.notMatch(await changed(async () => administration.call('DELETE', '/api/v1alpha1/rolebindings/waited')), 'waited');
});

test('a request without a change is answered after its time, and at once without a known tag', async (t) => {
  const { clock, read, known, administration } = await started(t, 'patient');
  t.equal((await read('?wait=60')).status, 200);
  t.equal((await read('?wait=60', { 'if-none-match': '"another"' })).status, 200);
  const began = clock.monotonic();
  t.equal((await passing(clock, read('?wait=30', await known()))).status, 304);
  t.ok(clock.monotonic() - began >= 30_000);
  for (const wait of ['61', '-1', '1.5', 'long']) t.equal((await read(`?wait=${wait}`)).status, 400, wait);
  await t.rejects(
    administration.call('GET', `${own.replace('/-/', '/patient/')}?wait=1`),
    /only for the own permissions/u,
  );
});

test('waiting requests of a user are bounded, and a disconnected one does not count', async (t) => {
  const { clock, read, known } = await started(t, 'crowd');
  const headers = await known();
  const leaving = new AbortController();
  const waiting = Array.from({ length: permissionWaitsPerUserMax + 1 }, async () =>
    read('?wait=60', headers, leaving.signal),
  );
  const first = await Promise.race(waiting);
  t.equal(first.status, 429);
  t.equal(first.headers.get('retry-after'), '60');
  leaving.abort();
  t.equal((await Promise.allSettled(waiting)).filter(({ status }) => status === 'fulfilled').length, 1);
  let response = await passing(clock, read('?wait=1', headers));
  // The server learns of the disconnections in its own time.
  while (response.status === 429) response = await passing(clock, read('?wait=1', headers));
  t.equal(response.status, 304);
});

test('the end of the session and of the server end the wait', async (t) => {
  const { server, clock, read, known, administration } = await started(t, 'leaver');
  const waiting = read('?wait=60', await known());
  await administration.call('PATCH', '/api/v1alpha1/users/leaver', { spec: { disabled: true } });
  t.match((await passing(clock, waiting, 1_000)).status, /304|401/u);
  const admin = await fetch(`${server.url}${own}`, { headers: as('admin') });
  const last = fetch(`${server.url}${own}?wait=60`, {
    headers: { ...as('admin'), 'if-none-match': admin.headers.get('etag') ?? '' },
  }).catch(() => undefined);
  const began = clock.monotonic();
  await passing(clock, server.close());
  await last;
  t.ok(clock.monotonic() - began < 60_000, 'the server does not wait for the request');
});
