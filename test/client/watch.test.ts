import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { test } from 'tap';

import { ClientError, MalformedWatchError, type WatchEvent } from '../../src/client/client.ts';
import { bookmark, NotingClock, object, ScriptedServer, status, thing, until } from './scripted-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Events = AsyncGenerator<WatchEvent, void, undefined>;

async function next(events: Events): Promise<string> {
  const { value, done } = await events.next();
  if (done === true) return 'the end';
  const { type } = value;
  return type === 'BOOKMARK'
    ? `BOOKMARK ${value.resourceVersion}`
    : `${type} ${value.object.metadata.name} ${value.object.metadata.resourceVersion}`;
}

test('the present objects come first, and cuts are resumed from the last position', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const events = server.client({ clock }).watch(thing, { labelSelector: 'a=b', fieldSelector: ['x=1', 'y=2'] });
  const came = next(events);
  const first = await server.asked();
  t.equal(first.url.pathname, '/apis/things.example/v1/things');
  t.equal(
    first.url.search,
    '?watch=true&allowWatchBookmarks=true&labelSelector=a%3Db&fieldSelector=x%3D1&fieldSelector=y%3D2' +
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  );
  first.event('ADDED', object('a', 5));
  t.equal(await came, 'ADDED a 5');
  first.event('BOOKMARK', bookmark(7, true));
  first.event('MODIFIED', object('a', 9));
  t.equal(await next(events), 'MODIFIED a 9');
  first.response.write('{"type":"MODIFIED","object":{"meta');
  const resumed = next(events);
  first.response.destroy();
  const second = await server.asked();
  t.equal(second.url.searchParams.get('resourceVersion'), '9');
  t.notOk(second.url.searchParams.has('sendInitialEvents'));
  second.event('BOOKMARK', bookmark(20));
  second.response.end();
  const third = await server.asked();
  t.equal(third.url.searchParams.get('resourceVersion'), '20');
  third.event('DELETED', object('a', 21));
  t.equal(await resumed, 'DELETED a 21');
  await events.return();
});

test('a cut among the present objects repeats none, and what is missing afterwards was deleted', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const events = server.client({ clock }).watch(thing);
  const came = next(events);
  const first = await server.asked();
  for (const name of ['a', 'b', 'c', 'd']) first.event('ADDED', object(name, 5));
  t.strictSame([await came, await next(events), await next(events), await next(events)].length, 4);
  const rest = next(events);
  first.response.end();
  const second = await server.asked();
  t.ok(second.url.searchParams.has('sendInitialEvents'), 'there is no position yet');
  second.event('ADDED', object('a', 5));
  second.event('ADDED', object('b', 8));
  second.event('ADDED', object('d', 9, 'another'));
  second.event('ADDED', object('e', 6));
  second.event('BOOKMARK', bookmark(9, true));
  t.strictSame(
    [await rest, await next(events), await next(events), await next(events), await next(events)],
    ['MODIFIED b 8', 'DELETED d 5', 'ADDED d 9', 'ADDED e 6', 'DELETED c 5'],
  );
  await events.return();
});

for (const form of ['an ERROR event', 'an answer'])
  test(`an expired position (${form}) leads to the differences`, async (t) => {
    const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
    const events = server.client({ clock }).watch(thing, { bookmarks: true });
    const came = next(events);
    const first = await server.asked();
    first.event('ADDED', object('a', 5));
    first.event('BOOKMARK', bookmark(6, true));
    t.strictSame([await came, await next(events)], ['ADDED a 5', 'BOOKMARK 6']);
    const rest = next(events);
    if (form === 'an answer') {
      first.response.end();
      (await server.asked()).json(410, status(410, 'Expired'));
    } else {
      first.event('ERROR', status(410, 'Expired'));
      first.response.end();
    }
    const second = await server.asked();
    t.ok(second.url.searchParams.has('sendInitialEvents'));
    t.notOk(second.url.searchParams.has('resourceVersion'));
    second.event('ADDED', object('b', 2));
    second.event('BOOKMARK', bookmark(2, true));
    t.strictSame([await rest, await next(events), await next(events)], ['ADDED b 2', 'DELETED a 5', 'BOOKMARK 2']);
    await events.return();
  });

test('from a list with its objects it goes on in the same way; without them it rejects', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const from = { resourceVersion: '6', items: [object('a', 5)] };
  const events = server.client({ clock }).watch(thing, { from });
  const came = next(events);
  const first = await server.asked();
  t.equal(first.url.searchParams.get('resourceVersion'), '6');
  first.json(410, status(410, 'Expired'));
  (await server.asked()).event('BOOKMARK', bookmark(3, true));
  t.equal(await came, 'DELETED a 5');
  await events.return();
  const bare = server.client({ clock }).watch(thing, { from: { resourceVersion: '6' } });
  const refused = t.rejects(next(bare), { name: 'ClientError', status: 410, reason: 'Expired' });
  (await server.asked()).json(410, status(410, 'Expired'));
  await refused;
});

test('waits grow, are drawn, honour Retry-After, and begin anew after progress', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const reasons: unknown[] = [];
  const events = server.client({ clock }).watch(thing, { onRetry: (error) => reasons.push(error) });
  const came = next(events);
  for (let attempt = 0; attempt < 12; attempt += 1) (await server.asked()).json(503, status(503, 'ServiceUnavailable'));
  (await server.asked()).json(429, status(429, 'TooManyRequests'), { 'retry-after': '60' });
  (await server.asked()).json(503, {}, { 'retry-after': 'Thu, 01 Jan 2026 00:01:40 GMT' });
  const last = await server.asked();
  last.json(503, {}, { 'retry-after': '99999999' });
  const good = await server.asked();
  good.event('BOOKMARK', bookmark(1, true));
  good.response.end();
  const again = await server.asked();
  again.event('ADDED', object('a', 3));
  t.equal(await came, 'ADDED a 3');
  const drawn = [100, 300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 22_500, 22_500, 22_500, 22_500];
  t.strictSame(clock.waits, [...drawn, 63_000, 105_000, 315_000, 100]);
  t.equal(reasons.filter((reason) => reason instanceof ClientError).length, 15);
  t.equal(reasons.at(-1), undefined, 'the server ended the connection');
  await events.return();
});

test('an empty address is tried again, and its error names the address', async (t) => {
  const clock = new NotingClock();
  const server = await ScriptedServer.start(t);
  const reasons: unknown[] = [];
  const over = new AbortController();
  const onRetry = (error: unknown): void => {
    reasons.push(error);
    if (reasons.length === 3) over.abort();
  };
  const events = server.client({ clock, url: 'http://127.0.0.1:1' }).watch(thing, { onRetry, signal: over.signal });
  await t.rejects(next(events), { name: 'AbortError' });
  t.match(reasons[0], { name: 'ConnectionError', message: /^no response from http:\/\/127\.0\.0\.1:1: .*/u });
});

test('a connection that falls silent is replaced, before its headers and after', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const events = server.client({ clock }).watch(thing);
  const came = next(events);
  await server.asked();
  clock.fallSilent();
  const second = await server.asked();
  second.event('ADDED', object('a', 1));
  second.event('BOOKMARK', bookmark(2, true));
  t.equal(await came, 'ADDED a 1');
  const rest = next(events);
  second.response.write('\n\n');
  await until(() => clock.isListening);
  clock.fallSilent();
  const third = await server.asked();
  t.equal(third.url.searchParams.get('resourceVersion'), '2');
  third.event('DELETED', object('a', 3));
  t.equal(await rest, 'DELETED a 3');
  t.notOk(clock.isListening, 'the time that the caller takes does not count');
  await events.return();
});

test('refusals that stay reject, with the events before them', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  for (const code of [400, 401, 403, 404, 405, 415]) {
    const events = server.client({ clock }).watch(thing);
    const refused = t.rejects(next(events), {
      name: 'ClientError',
      message: 'it is Some',
      status: code,
      reason: 'Some',
    });
    (await server.asked()).json(code, status(code, 'Some'));
    await refused;
  }
  const events = server.client({ clock }).watch(thing);
  const came = next(events);
  const asked = await server.asked();
  asked.event('ADDED', object('a', 1));
  asked.event('ERROR', status(403, 'Forbidden'));
  t.equal(await came, 'ADDED a 1');
  await t.rejects(next(events), { name: 'ClientError', message: 'it is Forbidden', status: 403 });
  t.strictSame(clock.waits, []);
});

test('an answer that is not a watch rejects', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  for (const line of [
    '<html>',
    '[]',
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":{}}',
    '{"type":"NEW","object":{}}',
  ]) {
    const events = server.client({ clock }).watch(thing);
    const refused = t.rejects(next(events), MalformedWatchError, line);
    (await server.asked()).response.end(`${line}\n`);
    await refused;
  }
});

test('a server without initial events is listed by pages, then watched', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const events = server.client({ clock }).watch(thing, { name: 'a' });
  const came = next(events);
  (await server.asked()).json(422, status(422, 'Invalid'));
  const list = await server.asked();
  t.equal(list.url.search, '?fieldSelector=metadata.name%3Da&limit=500');
  list.json(200, { metadata: { resourceVersion: '4', continue: 'more' }, items: [object('a', 3)] });
  t.equal(await came, 'ADDED a 3');
  const rest = next(events);
  const more = await server.asked();
  t.equal(more.url.searchParams.get('continue'), 'more');
  more.json(200, { metadata: { resourceVersion: '4' }, items: [] });
  const watch = await server.asked();
  t.equal(watch.url.pathname, '/apis/things.example/v1/things/a');
  t.equal(watch.url.searchParams.get('resourceVersion'), '4');
  watch.event('MODIFIED', object('a', 6));
  t.equal(await rest, 'MODIFIED a 6');
  await events.return();
});

test('the signal ends it at any point, and leaving the loop closes the connection', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  await t.rejects(next(server.client().watch(thing, { signal: AbortSignal.abort() })), { name: 'AbortError' });
  t.equal(server.requests.length, 0);
  const over = new AbortController();
  const events = server.client({ clock }).watch(thing, { signal: over.signal });
  const came = next(events);
  const asked = await server.asked();
  const closed = new Promise((resolve) => asked.response.once('close', resolve));
  asked.response.flushHeaders();
  over.abort(new Error('enough'));
  await t.rejects(came, { message: 'enough' });
  await closed;

  const left = server.client({ clock }).watch(thing);
  const one = next(left);
  const other = await server.asked();
  other.event('ADDED', object('a', 1));
  await one;
  const disconnected = new Promise((resolve) => other.response.once('close', resolve));
  await left.return();
  await disconnected;
});

test('the signal and the end of the loop close the connection after a collection of garbage, too', async (t) => {
  const server = await ScriptedServer.start(t);
  for (const end of ['signal', 'return'] as const) {
    const over = new AbortController();
    const events = server.client().watch(thing, { signal: over.signal });
    const first = next(events);
    const asked = await server.asked();
    asked.event('ADDED', object('a', 1));
    await first;
    const closed = new Promise((resolve) => asked.response.once('close', resolve));
    for (let turn = 0; turn < 10; turn += 1) {
      await nextTurn();
      collectGarbage();
    }
    if (end === 'return') {
      await events.return();
    } else {
      const rest = next(events);
      over.abort(new Error('enough'));
      await t.rejects(rest, { message: 'enough' }, end);
    }
    await closed;
  }
});

test('a slow reader is not read ahead of', async (t) => {
  const server = await ScriptedServer.start(t);
  const events = server.client().watch(thing);
  const came = next(events);
  const asked = await server.asked();
  const filler = 'x'.repeat(100_000);
  asked.event('ADDED', object('a', 1));
  await came;
  // Writes until the connection takes no more: what was accepted is in the system's buffers, not in the client.
  let written = 0;
  while (written < 2_000 && asked.response.writableLength < 16_000_000) {
    asked.event('ADDED', { ...object(`b${String(written)}`, 1), spec: { filler } });
    written += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(asked.response.writableLength >= 16_000_000, 'the client does not read on');
  t.match(await next(events), /^ADDED b0/u);
  await events.return();
});

test('another form is requested on every connection, and requires a position without objects', async (t) => {
  const server = await ScriptedServer.start(t);
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const from = { resourceVersion: '6' };
  const watch = server.client().watch(thing, { from, accept, includeObject: 'Object' });
  const first = watch.next();
  const asked = await server.asked();
  t.equal(asked.headers.accept, accept);
  t.equal(asked.url.searchParams.get('includeObject'), 'Object');
  const table = { kind: 'Table', metadata: { resourceVersion: '7' }, rows: [{ cells: ['a'] }] };
  asked.response.writeHead(200, { 'content-type': 'application/json' });
  asked.event('MODIFIED', table);
  t.match(await first, { value: { type: 'MODIFIED', object: table } });
  const next = watch.next();
  asked.response.end();
  const resumed = await server.asked();
  t.equal(resumed.headers.accept, accept);
  t.equal(resumed.url.searchParams.get('resourceVersion'), '7');
  resumed.response.writeHead(200, { 'content-type': 'application/json' });
  resumed.event('ADDED', { ...table, metadata: { resourceVersion: '8' } });
  t.match(await next, { value: { type: 'ADDED' } });
  await watch.return();
  for (const from of [undefined, { resourceVersion: '6', items: [] }])
    await t.rejects(server.client().watch(thing, { from, accept }).next(), { name: 'TypeError' });
});
