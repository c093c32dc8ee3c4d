import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { test } from 'tap';

import { pluginRouteMs } from '../../../src/limits/plugins.ts';
import { watchKeepAliveMs } from '../../../src/limits/watches.ts';
import {
  pluginEventBytesMax,
  pluginStreamsMax,
  pluginStreamsPerPluginMax,
} from '../../../src/http/plugin-routes/route-limits.ts';
import { OpenStreams, type Mount, type OpenStream } from '../../../src/http/plugin-routes/plugin-streams.ts';
import { requestInfo } from '../../../src/resource/query/request-path.ts';
import type { ServerSentEvent } from '../../../src/plugin/api/plugin.ts';
import { Outboxes } from '../../../src/watch/outbox.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { administrator, startEdge } from '../edge-server.ts';
import { base, edgeOf, eventsPath, withResolvers } from './plugin-stream-edge.ts';

/** Events that a test pushes, and whether they were abandoned. */
class Source implements AsyncIterableIterator<ServerSentEvent> {
  readonly #queued: unknown[] = [];
  #next: ((result: IteratorResult<ServerSentEvent>) => void) | undefined;
  asked = 0;
  readonly returned = withResolvers<undefined>();

  push(event: unknown): void {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined) this.#queued.push(event);
    else next({ done: false, value: event as ServerSentEvent });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ServerSentEvent>> {
    this.asked += 1;
    const value = this.#queued.shift();
    if (value !== undefined) return { done: false, value: value as ServerSentEvent };
    return new Promise((resolve) => {
      this.#next = resolve;
    });
  }

  async return(): Promise<IteratorResult<ServerSentEvent>> {
    this.returned.resolve(undefined);
    return Promise.resolve({ done: true, value: undefined });
  }
}

test('events are sent as the handler yields them, and their end ends the answer', async (t) => {
  const { edge } = await edgeOf(t, {
    events: () => ({
      headers: { 'x-mine': 'yes' },
      events: (async function* () {
        yield { data: { n: 1 }, id: '1', event: 'tick' };
        yield await Promise.resolve({ data: 'two\nlines\r\nand three' });
      })(),
    }),
  });
  const response = await edge.call(eventsPath, { headers: { accept: 'text/event-stream' } });
  t.match(
    [
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      response.headers.get('x-mine'),
    ],
    [200, 'text/event-stream', 'no-store', 'yes'],
  );
  t.equal(await response.text(), 'id: 1\nevent: tick\ndata: {"n":1}\n\ndata: two\ndata: lines\ndata: and three\n\n');
  t.strictSame(edge.pluginRoutes.streams(), []);
  const head = await edge.call(eventsPath, { method: 'HEAD' });
  t.equal(head.headers.get('content-type'), 'text/event-stream', 'a HEAD gets the head');
});

for (const [what, events, expected] of [
  [
    'throws',
    async function* () {
      yield { data: 1 };
      await Promise.reject(new Error('broken feed'));
    },
    /the iterator of the events threw an error/u,
  ],
  [
    'yields no event',
    async function* () {
      yield { data: 1 };
      yield 7;
    },
    /a yielded value is not an event object/u,
  ],
  [
    'yields no data',
    async function* () {
      yield { data: 1 };
      yield {};
    },
    /data of a yielded event is not JSON, but undefined/u,
  ],
  [
    'yields a misspelt member',
    async function* () {
      yield { data: 1 };
      yield { data: 1, evnt: 'a' };
    },
    /a yielded event has the member "evnt"; did you mean "event"\?/u,
  ],
  [
    'yields a name of two lines',
    async function* () {
      yield { data: 1 };
      yield { data: 1, event: 'a\nid: 2' };
    },
    /name of a yielded event/u,
  ],
  [
    'yields an id with NUL',
    async function* () {
      yield { data: 1 };
      yield { data: 1, id: 'a\0' };
    },
    /id of a yielded event/u,
  ],
  [
    'yields too much',
    async function* () {
      yield { data: 1 };
      yield { data: 'x'.repeat(pluginEventBytesMax) };
    },
    /bytes/u,
  ],
  [
    'yields a value that is not JSON',
    async function* () {
      yield { data: 1 };
      yield { data: 1n };
    },
    /not JSON/u,
  ],
] as const) {
  test(`a stream that ${what} ends, and the log names the plugin`, async (t) => {
    const { edge } = await edgeOf(t, { events: () => ({ events: events() as AsyncIterable<ServerSentEvent> }) });
    t.equal(await (await edge.call(eventsPath)).text(), 'data: 1\n\n');
    t.match(
      edge.lines.filter(({ level }) => level === 'error'),
      [
        {
          message: 'the event stream of a plugin route failed',
          fields: { plugin: 'feeds', route: `GET ${base}/feeds/{name}/events`, problem: expected },
        },
      ],
    );
    t.strictSame(edge.pluginRoutes.streams(), []);
  });
}

test("a result that cannot be streamed is the plugin's error", async (t) => {
  for (const answer of [
    { events: [] },
    { events: {}, status: 200 },
    { events: new Source(), body: 1 },
    { events: new Source(), status: 201 },
    { events: new Source(), headers: { 'content-type': 'text/plain' } },
  ]) {
    const { edge } = await edgeOf(t, { events: () => answer as never });
    t.equal((await edge.call(eventsPath)).status, 500, JSON.stringify(Object.keys(answer)));
  }
});

test('a stream has no time limit, is kept alive, and ends with its caller, plugin, right or server', async (t) => {
  for (const how of ['caller', 'plugin', 'right', 'server'] as const) {
    const source = new Source();
    let signal: AbortSignal | undefined;
    const { edge, clock } = await edgeOf(t, {
      events: (request) => {
        ({ signal } = request);
        return { events: source };
      },
    });
    const leaving = new AbortController();
    const response = await edge.call(eventsPath, { signal: leaving.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    source.push({ data: 1 });
    t.equal((await reader.read()).value, 'data: 1\n\n');
    clock.advance(watchKeepAliveMs);
    t.equal((await reader.read()).value, ':\n\n', 'a comment keeps it alive');
    clock.advance(pluginRouteMs);
    t.equal(signal?.aborted, false);
    const asked: string[] = [];
    if (how === 'caller') leaving.abort();
    else if (how === 'plugin') edge.pluginRoutes.unmount('feeds');
    else if (how === 'right')
      edge.pluginRoutes.recheck((_subject, { verb, path }) => {
        asked.push(`${verb} ${path}`);
        return false;
      });
    else edge.pluginRoutes.closeStreams();
    await source.returned.promise;
    t.equal(signal?.aborted, true, how);
    t.strictSame(edge.pluginRoutes.streams(), [], how);
    if (how === 'right') t.strictSame(asked, [`get ${eventsPath}`]);
    if (how !== 'caller') while (!(await reader.read()).done);
    source.push({ data: 'late' });
    if (how === 'server') t.equal((await edge.call(eventsPath)).status, 503, 'and none begins');
    if (how === 'plugin') t.equal((await edge.call(eventsPath)).status, 404);
  }
});

test('events do not begin for a caller that lost the right during the call', async (t) => {
  let isAllowed = true;
  const source = new Source();
  const edge = await startEdge({
    authorize: () => (isAllowed ? { allowed: true } : { allowed: false, reason: 'not any more' }),
  });
  t.teardown(() => edge.stop());
  edge.pluginRoutes.mount('feeds', {
    sockets: [],
    routes: [
      {
        method: 'GET',
        path: `${base}/feeds/{name}/events`,
        handler: () => {
          isAllowed = false;
          return { events: source };
        },
      },
    ],
  });
  t.equal((await edge.call(eventsPath)).status, 403);
  await source.returned.promise;
  t.strictSame(edge.pluginRoutes.streams(), []);
  isAllowed = true;
  t.equal((await edge.call(eventsPath, { headers: { authorization: 'nobody' } })).status, 401);
});

test('a handler is not called when its plugin stopped while the body arrived', async (t) => {
  const { edge } = await edgeOf(t, {});
  let calls = 0;
  const add = `${base}/feeds/{name}/add`;
  for (const stop of [
    () => {
      edge.pluginRoutes.unmount('feeds');
    },
    () => {
      edge.pluginRoutes.announce('feeds', { routes: [], sockets: [] });
    },
  ]) {
    edge.pluginRoutes.mount('feeds', {
      routes: [
        {
          method: 'POST',
          path: add,
          handler: () => {
            calls += 1;
            return undefined;
          },
        },
      ],
      sockets: [],
    });
    const asked = request(`${edge.url}${base}/feeds/a/add`, {
      method: 'POST',
      agent: false,
      headers: { authorization: 'admin', 'content-type': 'application/json', expect: '100-continue' },
    });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    asked.flushHeaders();
    // Sent once the server reads: it has been found and waits for its body.
    await once(asked, 'continue');
    stop();
    asked.end('{}');
    t.equal((await answered)[0].resume().statusCode, 503);
    t.equal(calls, 0);
  }
});

test('the next event is requested once the last one is consumed', async (t) => {
  let asked = 0;
  const { edge } = await edgeOf(t, {
    events: () => ({
      events: (async function* () {
        for (;;) {
          asked += 1;
          yield await Promise.resolve({ data: 'x'.repeat(100_000) });
        }
      })(),
    }),
  });
  const leaving = new AbortController();
  await edge.call(eventsPath, { signal: leaving.signal });
  let before = -1;
  while (before !== asked) {
    before = asked;
    // Others are served meanwhile, and the buffers of the connections bound the unread data.
    for (let turn = 0; turn < 20; turn += 1) await edge.call('/healthz');
  }
  t.ok(asked < 500, `${String(asked)} events were made for a reader that reads none`);
  leaving.abort();
});

test('open streams are bounded by plugin and in sum, and ended ones do not count', (t) => {
  const streams = new OpenStreams(new FakeClock(), new Outboxes(new FakeClock()));
  const request = requestInfo('GET', eventsPath, 'no watch');
  if (request.kind === 'malformed') throw new Error('a path');
  const opened = (mount: Mount, count: number): readonly OpenStream[] =>
    Array.from({ length: count }, () => {
      const stream: OpenStream = {
        transport: 'sse',
        mount,
        request,
        subject: administrator,
        beat: () => undefined,
        hold: () => undefined,
        applyVerdict: () => undefined,
        end: () => {
          streams.delete(stream);
        },
      };
      streams.add(stream);
      return stream;
    });
  const mounts = Array.from({ length: pluginStreamsMax / pluginStreamsPerPluginMax + 1 }, (_, index): Mount => ({
    plugin: `p${String(index)}`,
    serving: true,
    isOver: false,
  }));
  const [first, ...more] = mounts as [Mount, ...Mount[]];
  const [stream] = opened(first, pluginStreamsPerPluginMax);
  t.match(streams.refusal(first), { reason: 'too-many-requests', detail: /of the plugin p0/u });
  stream?.end({ reason: 'done', detail: '' });
  t.equal(streams.refusal(first), undefined);
  opened(first, 1);
  for (const mount of more.slice(0, -1)) opened(mount, pluginStreamsPerPluginMax);
  t.match(streams.refusal(more.at(-1)!), { reason: 'too-many-requests', detail: /on this server/u });
  streams.endMount(first);
  t.equal(streams.size, pluginStreamsMax - pluginStreamsPerPluginMax);
  first.isOver = true;
  t.match(streams.refusal(first), { reason: 'unavailable' });
  streams.closeAll();
  t.equal(streams.size, 0);
  t.match(streams.refusal(more[0]!), { reason: 'unavailable', detail: /shutting down/u });
  t.end();
});
