import { test, type Test } from 'tap';

import { StoppedTime } from '../../support/clocks/stopped-time.ts';

const uc = '/apis/uc.api.svc.run/v1alpha1';
const tokens = `${uc}/personalaccesstokens`;
const merge = 'application/merge-patch+json';
const basic = `Basic ${Buffer.from('dave:password of dave').toString('base64')}`;

type Call = { readonly method?: string; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

async function given(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const { clock, server } = await StoppedTime.start(t, { environment });
  const make = async (plural: string, body: object): Promise<void> => {
    const made = await server.call(`/api/v1alpha1/${plural}`, { method: 'POST', body });
    if (made.status !== 201) throw new Error(await made.text());
  };
  await make('users', { metadata: { name: 'dave' }, spec: { password: 'password of dave' } });
  await make('rolebindings', {
    metadata: { name: 'dave-author' },
    roleRef: { apiGroup: '', kind: 'Role', name: 'post-author' },
    subjects: [{ apiGroup: '', kind: 'User', name: 'dave' }],
  });
  const send = async (path: string, { headers = {}, ...call }: Call): Promise<Response> =>
    server.call(path, { ...call, headers: { authorization: basic, ...headers } });
  const statusOf = async (path: string, call: Call): Promise<number> => {
    const response = await send(path, call);
    await response.arrayBuffer();
    if (response.status === 429) t.match(response.headers.get('retry-after'), /^[1-9]\d*$/u);
    return response.status;
  };
  return { clock, server, make, send, statusOf };
}

test('own tokens, profile, password and log-ins share one limit, whichever credential is used', async (t) => {
  const { clock, send, statusOf } = await given(t);
  const made = await send(tokens, { method: 'POST', body: { metadata: { name: 'first' }, spec: {} } });
  const {
    status: { token },
  } = (await made.json()) as { readonly status: { readonly token: string } };
  const bearer = { authorization: `Bearer ${token}` };
  const writes: ((place: number) => Promise<number>)[] = [
    async (place) =>
      statusOf(`${uc}/users/-`, { method: 'PUT', body: { spec: { displayName: `Dave ${String(place)}` } } }),
    async (place) =>
      statusOf(`${tokens}/first`, {
        method: 'PATCH',
        body: { spec: { description: String(place) } },
        headers: { 'content-type': merge },
      }),
    async (place) =>
      statusOf(`${tokens}/first`, {
        method: 'PATCH',
        body: { spec: { description: String(place) } },
        headers: { 'content-type': merge, ...bearer },
      }),
    async () =>
      statusOf(`${tokens}?dryRun=All`, { method: 'POST', body: { metadata: { generateName: 'dry-' }, spec: {} } }),
    async () => statusOf('/login', { method: 'POST', body: { username: 'dave', password: 'password of dave' } }),
    async () =>
      statusOf(`${uc}/users/-/password`, {
        method: 'PUT',
        body: { currentPassword: 'password of dave', password: 'password of dave' },
      }),
  ];
  const statuses: number[] = [];
  for (let index = 0; index < 110; index += 1) statuses.push(await writes[index % writes.length]!(index));
  t.equal(statuses.indexOf(429), 99, 'the token was the first of a hundred');
  t.ok(
    statuses.slice(99).every((status) => status === 429),
    statuses.slice(99).join(' '),
  );
  t.ok(
    statuses.slice(0, 99).every((status) => status < 300),
    statuses.slice(0, 99).join(' '),
  );
  clock.advance(1_000);
  const later = [];
  for (let index = 0; index < 12; index += 1) later.push(await writes[0]!(1_000 + index));
  t.strictSame(later, [...Array.from({ length: 10 }, () => 200), 429, 429]);
});

test("a plugin's writes with the rights of a caller count for the caller", async (t) => {
  const { clock, statusOf } = await given(t, { WRITES_PER_USER: '2' });
  const post = async (place: number, headers = {}): Promise<number> =>
    statusOf('/apis/uc.api.content.svc.run/v1alpha1/posts', {
      method: 'POST',
      headers,
      body: { metadata: { name: `post-${String(place)}` }, spec: { title: 'A post', content: 'Text' } },
    });
  const statuses = [];
  for (let index = 0; index < 24; index += 1) statuses.push(await post(index));
  t.strictSame(statuses, [...Array.from({ length: 20 }, () => 201), 429, 429, 429, 429]);
  t.equal(
    await statusOf('/login', { method: 'POST', body: { username: 'dave', password: 'password of dave' } }),
    429,
    'a session is a write of theirs, too',
  );
  clock.advance(500);
  t.equal(await post(100), 201);
});

for (const [perSecond, status, marked, title] of [
  [2, 429, 20, '20 of 400 objects are deleted or marked for deletion'],
  [30, 200, 300, '"remainingItemCount":100'],
] as const) {
  test(`with ${String(10 * perSecond)} allowed writes a deletion of 400 reports the deleted ones`, async (t) => {
    const { clock, server, make, send } = await given(t, { WRITES_PER_USER: String(perSecond) });
    await make('roles', {
      metadata: { name: 'sweeper' },
      rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['*'] }],
    });
    await make('rolebindings', {
      metadata: { name: 'dave-sweeps' },
      roleRef: { apiGroup: '', kind: 'Role', name: 'sweeper' },
      subjects: [{ apiGroup: '', kind: 'User', name: 'dave' }],
    });
    const widgets = '/apis/example.com/v1alpha1/widgets';
    const made = await Promise.all(
      Array.from({ length: 400 }, async (_, index) =>
        server.call(widgets, {
          method: 'POST',
          body: { metadata: { name: `w${String(index)}`, finalizers: ['example.com/stays'] }, spec: { title: 'W' } },
        }),
      ),
    );
    t.ok(made.every((response) => response.status === 201));
    const swept = await send(widgets, { method: 'DELETE' });
    t.equal(swept.status, status);
    t.match(await swept.text(), new RegExp(title, 'u'));
    const isMarked = async (): Promise<number> => {
      const { items } = (await (await server.call(widgets)).json()) as {
        readonly items: readonly { readonly metadata: { readonly deletionTimestamp?: string } }[];
      };
      return items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
    };
    t.equal(await isMarked(), marked, 'no more and no fewer');
    clock.advance(10_000);
    await (await send(widgets, { method: 'DELETE' })).text();
    t.equal(await isMarked(), Math.min(400, 2 * marked), 'those that are marked do not count again');
  });
}
