/** A subscription that leaves out an event ends the node before a signature, and the next start has all events. */
import { test, type Test } from 'tap';

import { parseCheckpoint } from '../../../src/audit/proof/checkpoint.ts';
import { parseNote } from '../../../src/audit/proof/signed-note.ts';
import { startEventStore, type EventStore } from '../../support/eventstore/eventstore.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const events = '/apis/audit.svc.run/v1alpha1/events';
const checkpoint = '/audit/tree/checkpoint';

async function create(server: TestServer, name: string): Promise<void> {
  const body = { metadata: { name }, spec: { title: name } };
  const answer = await server.call(widgets, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(await answer.text());
}

async function namesIn(server: TestServer): Promise<readonly string[]> {
  const selector = encodeURIComponent('type=widgets.example.com');
  const answer = await server.call(`${events}?fieldSelector=${selector}&limit=500`);
  if (answer.status !== 200) throw new Error(await answer.text());
  const { items } = (await answer.json()) as { readonly items: readonly { readonly name: string }[] };
  return items.map(({ name }) => name).sort();
}

/** Asks again while the node is not ready to sign. */
async function sizeOf(server: TestServer): Promise<number | undefined> {
  for (;;) {
    const answer = await server.call(checkpoint);
    const text = await answer.text();
    if (answer.status === 200) return parseCheckpoint(parseNote(text)?.text ?? '')?.size;
    if (answer.status !== 503) throw new Error(text);
  }
}

async function update(server: TestServer, name: string, title: string): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await server.call(`${widgets}/${name}`, { method: 'PATCH', headers, body: { spec: { title } } });
  if (answer.status !== 200) throw new Error(await answer.text());
}

async function storeOf(t: Test): Promise<EventStore> {
  const store = await startEventStore();
  t.teardown(async () => store.stop());
  return store;
}

test('an event that only the audit subscription lacks is noticed before a signature', async (t) => {
  const store = await storeOf(t);
  const environment = { EVENT_LOG: store.url };
  let stopped: (error: Error) => void = () => undefined;
  const fatal = new Promise<Error>((resolve) => {
    stopped = resolve;
  });
  const server = await startTestServer({ environment, onFatal: stopped });
  t.teardown(async () => server.remove());
  const before = await sizeOf(server);
  t.type(before, 'number');
  // The audit indexes alone subscribe to accesses.
  store.faults.leftOut = ({ stream }, prefixes) =>
    stream.endsWith('widgets.example.com/lost') && prefixes.some((prefix) => prefix.endsWith('access:'));
  for (const name of ['a', 'lost', 'b']) await create(server, name);
  t.strictSame(await namesIn(server), ['a', 'b'], 'the index lacks the event');
  const refused = await server.call(checkpoint);
  t.equal(refused.status, 503);
  t.match(await refused.text(), /object:widgets\.example\.com\/lost at position \d+, which the subscription/u);
  const error = await fatal;
  t.match(error, { name: 'StartError', exitCode: 1, message: /the next start rebuilds the audit indexes/u });
  t.equal((await server.call(events)).status, 503, 'no request reads the empty indexes');

  store.faults.leftOut = undefined;
  const again = await server.restart();
  t.teardown(async () => again.close());
  const size = await sizeOf(again);
  t.ok(size !== undefined && before !== undefined && size >= before + 3);
  t.strictSame(await namesIn(again), ['a', 'b', 'lost']);
});

test('the last event of a quiet log that the audit subscription lacks is read from the log', async (t) => {
  const store = await storeOf(t);
  const server = await startTestServer({ environment: { EVENT_LOG: store.url, ACCESS_EVENTS: 'off' } });
  t.teardown(async () => server.remove());
  t.type(await sizeOf(server), 'number');
  store.faults.leftOut = ({ stream }, prefixes) =>
    stream.endsWith('widgets.example.com/lost') && prefixes.some((prefix) => prefix.endsWith('access:'));
  await create(server, 'lost');
  const refused = await server.call(events);
  t.match({ status: refused.status, text: await refused.text() }, { status: 503, text: /not yet processed position/u });
  // Only subscriptions leave out events.
  store.faults.leftOut = undefined;
  const selector = encodeURIComponent('type=widgets.example.com');
  for (let status = 503; status !== 200;) ({ status } = await server.call(`${events}?fieldSelector=${selector}`));
  t.strictSame(await namesIn(server), ['lost']);
});

test('a revision that only the audit subscription lacks is noticed at the next one of its object', async (t) => {
  const store = await storeOf(t);
  let stopped: (error: Error) => void = () => undefined;
  const fatal = new Promise<Error>((resolve) => {
    stopped = resolve;
  });
  const server = await startTestServer({ environment: { EVENT_LOG: store.url }, onFatal: stopped });
  t.teardown(async () => server.remove());
  await create(server, 'lamp');
  t.strictSame(await namesIn(server), ['lamp']);
  store.faults.leftOut = ({ stream }, prefixes) =>
    stream.endsWith('widgets.example.com/lamp') && prefixes.some((prefix) => prefix.endsWith('access:'));
  await update(server, 'lamp', 'left out');
  await create(server, 'vase');
  t.strictSame(await namesIn(server), ['lamp', 'vase'], 'the index lacks the update');
  store.faults.leftOut = undefined;
  await update(server, 'lamp', 'noticed');
  const error = await fatal;
  t.match(error, { name: 'StartError', exitCode: 1, message: /revision 2 of object:widgets\.example\.com\/lamp/u });
  t.equal((await server.call(events)).status, 503, 'no request reads the empty indexes');

  const again = await server.restart();
  t.teardown(async () => again.close());
  t.ok((await sizeOf(again)) !== undefined);
  t.strictSame(await namesIn(again), ['lamp', 'lamp', 'lamp', 'vase']);
});
