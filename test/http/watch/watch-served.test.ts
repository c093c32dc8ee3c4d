import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { test, type Test } from 'tap';
import { WebSocket } from 'ws';

import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';

/** The whole server: its log, its read models, its collector, and watches over them. */

const widgets = '/apis/example.com/v1alpha1/widgets';

type Seen = {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly deletionTimestamp?: string };
  };
};

class Watching {
  readonly socket: WebSocket;
  readonly seen: Seen[] = [];
  closed: number | undefined;
  #woken: () => void = () => undefined;

  constructor(server: TestServer, query: string, path = widgets) {
    this.socket = new WebSocket(`${server.url.replace('http:', 'ws:')}${path}?${query}`, {
      headers: { authorization: adminAuthorization },
    });
    this.socket.on('message', (data: Buffer) => {
      this.seen.push(JSON.parse(data.toString('utf8')) as Seen);
      this.#woken();
    });
    this.socket.on('close', (code) => {
      this.closed = code;
      this.#woken();
    });
  }

  async story(count: number): Promise<readonly string[]> {
    while (this.seen.length < count && this.closed === undefined)
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    return this.seen.map(
      ({ type, object: { metadata } }) =>
        `${type} ${metadata.name}${metadata.deletionTimestamp === undefined ? '' : ' marked'}`,
    );
  }

  async closing(): Promise<number> {
    while (this.closed === undefined)
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    return this.closed;
  }
}

function widget(name: string, tier: string): object {
  return {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Widget',
    metadata: { name, labels: { 'example.com/tier': tier } },
    spec: { title: name, size: 1 },
  };
}

async function started(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return server;
}

async function must(response: Promise<Response>, status: number): Promise<{ metadata: { resourceVersion: string } }> {
  const answer = await response;
  const body = (await answer.json()) as { metadata: { resourceVersion: string } };
  if (answer.status !== status) throw new Error(`${String(answer.status)}: ${JSON.stringify(body)}`);
  return body;
}

test('watchers see the whole life of an object, also through a selector', async (t) => {
  const server = await started(t);
  const {
    metadata: { resourceVersion },
  } = await must(server.call(widgets), 200);
  const all = new Watching(server, `resourceVersion=${resourceVersion}`);
  const gold = new Watching(server, `resourceVersion=${resourceVersion}&labelSelector=example.com/tier%3Dgold`);
  await Promise.all([once(all.socket, 'open'), once(gold.socket, 'open')]);
  await must(server.call(widgets, { method: 'POST', body: widget('a', 'gold') }), 201);
  await must(server.call(`${widgets}/a`, { method: 'PUT', body: widget('a', 'tin') }), 200);
  await must(server.call(`${widgets}/a`, { method: 'PUT', body: widget('a', 'gold') }), 200);
  await must(server.call(`${widgets}/a`, { method: 'DELETE' }), 200);
  t.strictSame(await all.story(5), ['ADDED a', 'MODIFIED a', 'MODIFIED a', 'MODIFIED a marked', 'DELETED a marked']);
  t.strictSame(await gold.story(5), ['ADDED a', 'DELETED a', 'ADDED a', 'MODIFIED a marked', 'DELETED a marked']);

  // The same from the log, as a later watcher sees it.
  const later = new Watching(server, `resourceVersion=${resourceVersion}&labelSelector=example.com/tier%3Dgold`);
  await later.story(5);
  t.strictSame(later.seen, gold.seen, 'byte for byte');
  for (const { socket } of [all, gold, later]) socket.terminate();
});

test('a watch resumes across a restart, from the log', async (t) => {
  const server = await started(t);
  const first = new Watching(server, '');
  await once(first.socket, 'open');
  for (const name of ['a', 'b', 'c'])
    await must(server.call(widgets, { method: 'POST', body: widget(name, 'gold') }), 201);
  await first.story(3);
  const next = await server.restart();
  t.teardown(async () => next.close());
  t.equal(await first.closing(), 1012, 'come back');
  const resumed = new Watching(next, `resourceVersion=${first.seen[0]?.object.metadata.resourceVersion ?? ''}`);
  t.strictSame(await resumed.story(2), ['ADDED b', 'ADDED c']);
  t.strictSame(resumed.seen, first.seen.slice(1));

  const fresh = new Watching(next, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true');
  while (fresh.seen.at(-1)?.type !== 'BOOKMARK') await fresh.story(fresh.seen.length + 1);
  t.strictSame(
    fresh.seen
      .slice(0, -1)
      .map(({ object }) => object.metadata.name)
      .sort(),
    ['a', 'b', 'c'],
  );
  for (const { socket } of [resumed, fresh]) socket.terminate();
});

test('with many writers and watchers that reconnect each watcher sees every change once, in order', async (t) => {
  const server = await started(t);
  const steady = new Watching(server, '');
  await once(steady.socket, 'open');
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let write = 0; write < 12; write += 1)
      await must(
        server.call(widgets, { method: 'POST', body: widget(`w${String(writer)}-${String(write)}`, 'tin') }),
        201,
      );
  });
  const collected: Seen[] = [];
  let from = '0';
  while (collected.length < 96) {
    const visit = new Watching(server, from === '0' ? 'resourceVersion=1' : `resourceVersion=${from}`);
    await visit.story(1);
    visit.socket.terminate();
    await visit.closing();
    const named = visit.seen.filter(
      ({ object }) =>
        !collected.some((known) => known.object.metadata.resourceVersion === object.metadata.resourceVersion),
    );
    t.equal(named.length, visit.seen.length, 'nothing comes twice');
    collected.push(...visit.seen);
    from = collected.at(-1)?.object.metadata.resourceVersion ?? from;
  }
  await Promise.all(writers);
  await steady.story(96);
  t.strictSame(collected, steady.seen);
  steady.socket.terminate();
});

test("a visitor's watch is 401 before the upgrade", async (t) => {
  const server = await started(t);
  const socket = new WebSocket(`${server.url.replace('http:', 'ws:')}${widgets}`);
  const [, res] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  t.equal(res.statusCode, 401);
  res.destroy();
});
