import { test, type Test } from 'tap';

import { gadget, gadgetsPath, startGadgetServer } from '../../support/kubernetes/gadgets.ts';
import { ClientRequests } from './client-requests.ts';
import { gadgetForm, Reflector } from './reflector.ts';

/** Dynamic clients, controller-runtime's of custom types, and two ages of typed clients of built-in types. */
const accepts = [
  'application/json',
  'application/json, */*',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/vnd.kubernetes.protobuf, */*',
];

/** As of a cache that has seen more than a restored backup holds. */
const ahead = '999999999';

async function given(t: Test, accept?: string) {
  const client = await ClientRequests.given(t);
  const write = async (method: string, name: string, body?: unknown): Promise<void> => {
    const { status } = await client.send(method, method === 'POST' ? gadgetsPath : `${gadgetsPath}/${name}`, {
      headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    if (status >= 300) throw new Error(`${method} ${name} was answered with ${String(status)}`);
  };
  const create = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await write('POST', name, gadget(name));
  };
  const reflector = new Reflector(client, gadgetsPath, gadgetForm(accept));
  return { client, write, create, reflector, names: () => [...reflector.store.keys()].sort() };
}

for (const accept of accepts)
  test(`client-go's list and watch work with ${accept}`, async (t) => {
    const { client, write, create, reflector, names } = await given(t, accept);
    await create('a');
    await reflector.list();
    t.strictSame(names(), ['a']);
    const first = await reflector.openWatch();
    t.equal(first.headers['content-type'], 'application/json', 'the answer can be decoded');
    await create('b');
    await write('PATCH', 'a', { spec: { size: 1 } });
    t.equal(await reflector.follow(first, () => reflector.store.get('a')?.spec?.['size'] === 1), 'enough');
    t.strictSame(names(), ['a', 'b']);
    await write('DELETE', 'b');
    t.equal(await reflector.follow(first, () => !reflector.store.has('b')), 'enough');

    client.server = await client.server.restart();
    t.equal(await reflector.follow(first, () => false), 'ended', 'a server that stops ends its watches cleanly');
    await create('c');
    t.equal(await reflector.follow(await reflector.openWatch(), () => reflector.store.has('c')), 'enough');
    t.equal(reflector.requests[0], 'limit=500&resourceVersion=0');
    t.match(reflector.requests[1], /^allowWatchBookmarks=true&resourceVersion=\d+&timeoutSeconds=437&watch=true$/u);
    t.equal(reflector.requests.length, 3, 'it goes on without another list');
  });

test("client-go's list of several pages is whole, and a watch goes on from its position", async (t) => {
  const { create, write, reflector, names } = await given(t);
  const expected = Array.from({ length: 1_001 }, (_, index) => `g-${String(index)}`).sort();
  await Promise.all(Array.from({ length: 8 }, async (_, part) => create(...expected.filter((_, i) => i % 8 === part))));
  await reflector.list();
  t.strictSame(names(), expected);
  t.equal(reflector.requests.length, 3);
  const stream = await reflector.openWatch();
  await write('DELETE', 'g-0');
  t.equal(await reflector.follow(stream, () => !reflector.store.has('g-0')), 'enough');
});

test('a watch from a position that the log does not hold expires, and the lists after it heal the cache', async (t) => {
  const { create, reflector, names } = await given(t);
  await create('a');
  reflector.lastVersion = ahead;
  reflector.store.set('phantom', gadget('phantom'));
  t.equal(await reflector.follow(await reflector.openWatch(), () => false), 'expired');
  await reflector.list();
  t.strictSame(names(), ['a']);
  t.strictSame(reflector.requests.slice(1), [`resourceVersion=${ahead}`, 'limit=500']);
  const stream = await reflector.openWatch();
  await create('b');
  t.equal(await reflector.follow(stream, () => reflector.store.has('b')), 'enough');
});

for (const accept of accepts)
  test(`client-go's state and changes on one watch work with ${accept}`, async (t) => {
    const { client, create, write, reflector, names } = await given(t, accept);
    await create('a', 'b');
    const first = await reflector.watchList();
    t.strictSame(names(), ['a', 'b']);
    await write('DELETE', 'b');
    t.equal(await reflector.follow(first, () => !reflector.store.has('b')), 'enough', 'the same watch goes on');
    client.server = await client.server.restart();
    t.equal(await reflector.follow(first, () => false), 'ended');
    await create('c');
    t.equal(await reflector.follow(await reflector.openWatch(), () => reflector.store.has('c')), 'enough');
    await reflector.watchList();
    t.strictSame(names(), ['a', 'c'], 'a state that is not older than the last position');
  });

test('an initial state from a position that the log does not hold expires, and the next one heals it', async (t) => {
  const { create, reflector, names } = await given(t);
  await create('a');
  reflector.lastVersion = ahead;
  reflector.store.set('phantom', gadget('phantom'));
  await reflector.watchList();
  t.strictSame(names(), ['a']);
  t.equal(reflector.requests.length, 2);
});

test('the initial events of an empty collection end at once', async (t) => {
  const { create, reflector } = await given(t);
  const stream = await reflector.watchList();
  t.equal(reflector.store.size, 0);
  await create('a');
  t.equal(await reflector.follow(stream, () => reflector.store.has('a')), 'enough');
});

test("a cache of another server's log is healed", async (t) => {
  const { client, create, reflector, names } = await given(t);
  await create(...Array.from({ length: 30 }, (_, index) => `g-${String(index)}`));
  await reflector.list();
  const other = client.server;
  client.server = await startGadgetServer(t);
  await other.remove();
  await create('only');
  t.equal(await reflector.follow(await reflector.openWatch(), () => false), 'expired');
  await reflector.list();
  t.strictSame(names(), ['only']);
});
