/**
 * A chain of pages that is followed over two nodes, of which the second has not folded what the first page is as of.
 */

import t, { test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { startStalledNodes } from './support/stalled-nodes.ts';

t.setTimeout(100_000);

const widgets = '/apis/example.com/v1alpha1/widgets';
const ownTokens = '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens';

type List = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
  readonly message?: string;
};
async function list(server: TestServer, path: string): Promise<{ readonly status: number; readonly body: List }> {
  const response = await server.call(path);
  return { status: response.status, body: (await response.json()) as List };
}

async function write(
  server: TestServer,
  path: string,
  [method, body]: readonly ['POST' | 'PATCH', unknown],
): Promise<void> {
  const headers = method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {};
  const response = await server.call(path, { method, body, ...headers });
  if (!response.ok) throw new Error(await response.text());
}

const collections = [
  { path: widgets, made: (name: string) => ({ metadata: { name }, spec: { title: name } }) },
  { path: ownTokens, made: (name: string) => ({ metadata: { name }, spec: { description: name } }) },
];

test("a page continues from the chain's snapshot position, or waits for it, on a node that is behind", async (t) => {
  const { first, second, stall } = await startStalledNodes(t);
  for (const { path, made } of collections) {
    for (const name of ['a', 'b', 'c']) await write(first, path, ['POST', made(name)]);
    // Both are as far.
    const {
      body: {
        metadata: { resourceVersion },
      },
    } = await list(first, path);
    t.equal((await list(second, `${path}?resourceVersion=${resourceVersion}`)).status, 200);
    stall.hold();
    await write(first, `${path}/c`, ['PATCH', { metadata: { annotations: { seen: 'late' } } }]);
    const begun = await list(first, `${path}?limit=2&sort=metadata.name`);
    const next = `${path}?limit=2&sort=metadata.name&continue=${begun.body.metadata.continue ?? ''}`;
    const refused = await list(second, next);
    t.equal(refused.status, 504, 'the state the chain is as of is not there in time');
    t.match(refused.body, { reason: 'Timeout', message: /^Too large resource version: / });
    const waiting = list(second, next);
    stall.release();
    const { status, body } = await waiting;
    t.equal(status, 200);
    t.equal(body.metadata.resourceVersion, begun.body.metadata.resourceVersion);
    t.same(
      body.items.map(({ metadata: { name, annotations } }) => [name, annotations]),
      [['c', { seen: 'late' }]],
      'a watch from resourceVersion would not show this change',
    );
  }
});

test('only lists take a continue token', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  for (const name of ['a', 'b', 'c'])
    await write(server, widgets, ['POST', { metadata: { name }, spec: { title: name } }]);
  const {
    body: { metadata },
  } = await list(server, `${widgets}?limit=2`);
  const asked = `continue=${metadata.continue ?? ''}`;
  t.equal((await server.call(`${widgets}?${asked}`, { method: 'DELETE' })).status, 400, 'a deletion of a collection');
  t.equal((await server.call(`${widgets}?size=2&${asked}`)).status, 400);
  t.equal((await server.call(`/apis/uc.api.content.svc.run/v1alpha1/posts?${asked}`)).status, 400, 'own posts');
  t.equal((await list(server, widgets)).body.items.length, 3, 'nothing is deleted');
});
