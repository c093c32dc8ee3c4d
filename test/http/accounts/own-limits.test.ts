import t, { test } from 'tap';

import { ownTextBytesMax, tokensPerUserMax } from '../../../src/limits/access.ts';
import { startSignedIn } from './signed-in.ts';

const server = await startSignedIn(t, 'bob', 'carol');
const tokens = '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens';
const merge = { 'content-type': 'application/merge-patch+json' };

test('of many simultaneous token creations at most the quota succeeds, and a revoked token makes room', async (t) => {
  const make = async (as: string, place: number) =>
    server.as(as)('POST', tokens, { metadata: { name: `${as}-${String(place)}` }, spec: {} });
  for (let index = 0; index < tokensPerUserMax - 20; index += 1) t.equal((await make('admin', index)).status, 201);
  const replies = await Promise.all(Array.from({ length: 40 }, async (_, index) => make('admin', 100 + index)));
  t.equal(replies.filter(({ status }) => status === 201).length, 20);
  const full = { status: 422, text: /is invalid: a user may have at most 100 tokens: delete a token first/u };
  for (const refused of replies.filter(({ status }) => status !== 201)) t.match(refused, full);
  t.equal((await server.as('admin')('GET', tokens)).body.total, tokensPerUserMax);
  t.equal((await make('bob', 0)).status, 201, 'each user has their own');
  t.equal(
    (await server.as('admin')('POST', `${tokens}?dryRun=All`, { metadata: { name: 'dry' }, spec: {} })).status,
    422,
  );
  t.equal(
    (
      await server.as('admin')('POST', '/api/v1alpha1/personalaccesstokens', {
        metadata: { name: 'elsewhere' },
        spec: {},
      })
    ).status,
    422,
    'by whichever path',
  );
  t.equal((await server.as('admin')('DELETE', `${tokens}/admin-0`)).status, 200);
  t.equal((await make('admin', 998)).status, 201);
  t.equal((await make('admin', 999)).status, 422);
});

test("labels and annotations of one's own tokens are short; administrators may write longer ones", async (t) => {
  const text = (bytes: number) => ({ n: 'x'.repeat(bytes - 1) });
  const make = async (name: string, metadata: object) =>
    server.as('carol')('POST', tokens, { metadata: { name, ...metadata }, spec: {} });
  t.equal((await make('most', { annotations: text(ownTextBytesMax) })).status, 201);
  t.match(await make('more', { annotations: text(ownTextBytesMax + 1) }), {
    status: 422,
    body: { errors: [{ pointer: '/metadata/annotations', detail: /4096 bytes/u }] },
  });
  const labels = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`l${String(index)}`, 'x'.repeat(200)]));
  t.match(await make('labels', { labels }), { status: 422, body: { errors: [{ pointer: '/metadata/labels' }] } });
  const patch = async (body: object) => server.as('carol')('PATCH', `${tokens}/most`, body, merge);
  t.equal((await patch({ metadata: { annotations: { more: 'x' } } })).status, 422);
  const operations = [{ op: 'add', path: '/metadata/annotations/more', value: 'x' }];
  t.equal(
    (await server.as('carol')('PATCH', `${tokens}/most`, operations, { 'content-type': 'application/json-patch+json' }))
      .status,
    422,
  );
  const path = '/api/v1alpha1/personalaccesstokens/most';
  t.equal((await server.as('admin')('PATCH', path, { metadata: { annotations: text(100_000) } }, merge)).status, 200);
  t.equal((await patch({ spec: { description: 'kept' } })).status, 200, 'what stands there may stay');
  t.equal((await patch({ metadata: { annotations: { n: 'short' } } })).status, 200);
});

test('super administrators are exempt', async (t) => {
  for (let sent = 0; sent < 130; sent += 1) {
    t.not(
      (await server.as('admin')('POST', `${tokens}?dryRun=All`, { metadata: { generateName: 'dry-' }, spec: {} }))
        .status,
      429,
    );
  }
});
