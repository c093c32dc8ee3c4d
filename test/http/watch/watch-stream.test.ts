import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { test } from 'tap';

import { watchAheadWaitMs, watchBookmarkMs, watchersMax, watchKeepAliveMs } from '../../../src/limits/watches.ts';
import { WatchServer } from '../../support/server/watch-server.ts';

/** An answer that is read as it comes, to the length a test waits for. */
class Stream {
  readonly res: IncomingMessage;
  text = '';
  ended: 'no' | 'cleanly' | 'cut off' = 'no';
  #woken: () => void = () => undefined;

  constructor(res: IncomingMessage) {
    this.res = res;
    res.setEncoding('utf8');
    res.on('data', (chunk: string) => {
      this.text += chunk;
      this.#woken();
    });
    res.on('close', () => {
      this.ended = res.complete ? 'cleanly' : 'cut off';
      this.#woken();
    });
    res.on('error', () => undefined);
  }

  async until(holds: (stream: Stream) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.ended !== 'no') throw new Error(`the stream was ${this.ended}: ${this.text}`);
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    }
  }

  async lines(count: number): Promise<
    readonly {
      type: string;
      object: { metadata: { name?: string; resourceVersion?: string }; code?: number; reason?: string };
    }[]
  > {
    await this.until(({ text }) => text.split('\n').filter((line) => line !== '').length >= count);
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as never);
  }
}

async function open(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  const req = request(url, { headers });
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return new Stream(res);
}

const sse = { accept: 'text/event-stream' };

test('JSON lines: headers at once, the state, then each change with the exact bytes of the answer', async (t) => {
  const server = await WatchServer.start(t);
  await server.write('a', { text: 'ä\n"' });
  const stream = await open(server.url());
  t.equal(stream.res.statusCode, 200);
  t.equal(stream.res.headers['content-type'], 'application/json');
  t.equal(stream.res.headers['transfer-encoding'], 'chunked');
  t.equal(stream.res.headers['content-encoding'], undefined);
  t.equal(stream.res.headers['x-request-id'], 'r-1');
  await stream.lines(1);
  const answer = Buffer.from(server.objects.get(server.type.key, 'a')?.bytes ?? []).toString('utf8');
  t.equal(stream.text, `{"type":"ADDED","object":${answer}}\n`);
  await server.write('a', { text: 'b' });
  await server.write('a', 'deleted');
  t.strictSame(
    (await stream.lines(3)).map(({ type, object }) => [type, object.metadata.resourceVersion]),
    [
      ['ADDED', '1'],
      ['MODIFIED', '2'],
      ['DELETED', '3'],
    ],
  );
});

test('headers precede the first event', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url());
  t.equal(stream.res.statusCode, 200);
  t.equal(stream.text, '');
});

test('list at p and watch from p: events by item path and by selector', async (t) => {
  const server = await WatchServer.start(t);
  const from = await server.write('a', { labels: { app: 'x' } });
  const one = await open(server.url(`resourceVersion=${from.toString()}`, 'b'));
  const some = await open(server.url(`resourceVersion=${from.toString()}&labelSelector=app%3Dx`));
  await server.write('a', {});
  await server.write('b', { labels: { app: 'x' } });
  t.strictSame(
    (await one.lines(1)).map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`),
    ['ADDED b'],
  );
  t.strictSame(
    (await some.lines(2)).map(
      ({ type, object }) => `${type} ${object.metadata.name ?? ''}@${object.metadata.resourceVersion ?? ''}`,
    ),
    ['DELETED a@2', 'ADDED b@3'],
  );
});

test('a position ahead of the log is an ERROR event with a Status, and then the end', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url('resourceVersion=5'));
  t.equal(stream.res.statusCode, 200);
  server.clock.advance(watchAheadWaitMs);
  const [error] = await stream.lines(1);
  t.match(error, {
    type: 'ERROR',
    object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
  });
  await stream.until(({ ended }) => ended === 'cleanly');
});

test('an invalid watch is refused before it begins', async (t) => {
  const server = await WatchServer.start(t);
  for (const [query, status, reason] of [
    ['resourceVersion=x', 400, 'BadRequest'],
    ['sendInitialEvents=true', 422, 'Invalid'],
    ['fieldSelector=spec.color%3Dred', 400, 'BadRequest'],
  ] as const) {
    const response = await fetch(server.url(query));
    t.equal(response.status, status, query);
    t.match(await response.json(), { kind: 'Status', status: 'Failure', code: status, reason });
  }
  t.equal(server.hub.size, 0);
});

test('a silent stream gets empty keep-alive lines, and a timed one ends with a bookmark', async (t) => {
  const server = await WatchServer.start(t);
  await server.write('a');
  const stream = await open(server.url('resourceVersion=1&timeoutSeconds=12&allowWatchBookmarks=true'));
  server.clock.advance(watchKeepAliveMs);
  await stream.until(({ text }) => text === '\n');
  server.clock.advance(3_000);
  await stream.until(({ ended }) => ended === 'cleanly');
  t.equal(
    stream.text,
    '\n{"type":"BOOKMARK","object":{"kind":"Widget","apiVersion":"example.com/v1",' +
      '"metadata":{"resourceVersion":"1"}}}\n',
  );
});

test('bookmarks are sent on time, with any selector', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url('allowWatchBookmarks=true&labelSelector=app'));
  await server.write('a');
  server.clock.advance(watchBookmarkMs);
  const [bookmark] = await stream.lines(1);
  t.match(bookmark, { type: 'BOOKMARK', object: { metadata: { resourceVersion: '1' } } });
});

test("an informer's stream: the state, the marked bookmark, later changes", async (t) => {
  const server = await WatchServer.start(t);
  await server.write('a');
  const stream = await open(
    server.url('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
  );
  await stream.lines(2);
  await server.write('b');
  const lines = await stream.lines(3);
  t.strictSame(
    lines.map(({ type }) => type),
    ['ADDED', 'BOOKMARK', 'ADDED'],
  );
  t.match(lines[1], {
    object: {
      kind: 'Widget',
      apiVersion: 'example.com/v1',
      metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  });
});

test('server-sent events have no id in the state, then their position, and a watch resumes there', async (t) => {
  const server = await WatchServer.start(t);
  await server.write('a');
  await server.write('b');
  const stream = await open(server.url(), sse);
  t.equal(stream.res.headers['content-type'], 'text/event-stream');
  await server.write('c');
  await stream.until(({ text }) => text.includes('"name":"c"'));
  const blocks = stream.text.split('\n\n').slice(0, -1);
  t.match(
    blocks.map((block) => block.replace(/\{.*\}/u, '{}')),
    ['data: {}', 'data: {}', 'id: 2', 'id: 3\ndata: {}'],
  );
  t.match(JSON.parse(blocks[3]?.split('\ndata: ')[1] ?? ''), { type: 'ADDED', object: { metadata: { name: 'c' } } });
  stream.res.destroy();

  const resumed = await open(server.url(), { ...sse, 'last-event-id': '2' });
  await resumed.until(({ text }) => text.includes('"name":"c"'));
  t.match(resumed.text, /^id: 3\ndata: /u);
});

test('a silent event source gets a comment and the current position', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url('labelSelector=app'), sse);
  await stream.until(({ text }) => text === 'id: 0\n\n');
  await server.write('a');
  server.clock.advance(watchKeepAliveMs);
  await stream.until(({ text }) => text.endsWith(':\nid: 1\n\n'));
});

test('a shutdown ends streams cleanly, and refuses later ones', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url());
  server.hub.closeAll();
  await stream.until(({ ended }) => ended === 'cleanly');
  const refused = await fetch(server.url());
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('retry-after'), '1');
});

test('a lost right ends a stream with the reason', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url());
  server.hub.recheck(() => false);
  t.match(await stream.lines(1), [{ type: 'ERROR', object: { reason: 'Forbidden', code: 403 } }]);
  await stream.until(({ ended }) => ended === 'cleanly');
});

test('a type that is no longer served ends a stream with a Status, in every form', async (t) => {
  const server = await WatchServer.start(t);
  const streams = [await open(server.url()), await open(server.url(), sse)];
  server.hub.closeType(server.type.key);
  for (const stream of streams) await stream.until(({ ended }) => ended === 'cleanly');
  const texts = streams.map(
    ({ text }) => JSON.parse(/(?:^|data: )(\{"type":"ERROR".*\})\n/mu.exec(text)?.[1] ?? 'null') as unknown,
  );
  const error = {
    type: 'ERROR',
    object: {
      kind: 'Status',
      status: 'Failure',
      reason: 'ServiceUnavailable',
      code: 503,
      message: `${server.type.key} is not served now`,
    },
  };
  t.match(texts, [error, error]);
});

test('too many watches are refused with 429', async (t) => {
  const server = await WatchServer.start(t);
  Object.defineProperty(server.hub, 'refusal', { value: () => 'too-many-watchers' });
  const refused = await fetch(server.url());
  t.equal(refused.status, 429, String(watchersMax));
  t.ok(refused.headers.get('retry-after'));
});

test('a reader that stops is disconnected after complete events, and others continue', async (t) => {
  const server = await WatchServer.start(t);
  const slow = connect(server.port, '127.0.0.1');
  slow.write(`GET ${server.type.path}?resourceVersion=0 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(slow, 'readable');
  const quick = await open(server.url());
  const text = 'x'.repeat(500_000);
  let writes = 0;
  for (; server.hub.size === 2 && writes < 200; writes += 1) {
    await server.write('a', { text });
    await quick.until((stream) => stream.text.includes(`"resourceVersion":"${String(writes + 1)}"`));
    quick.text = '';
  }
  t.equal(server.hub.size, 1, `after ${String(writes)} writes`);
  await server.write('z');
  await quick.until((stream) => stream.text.includes('"name":"z"'));

  const chunks: Buffer[] = [];
  slow.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
  });
  while (!Buffer.concat(chunks).subarray(-5).equals(Buffer.from('0\r\n\r\n'))) await once(slow, 'data');
  t.match(Buffer.concat(chunks).subarray(-12).toString('latin1'), /\}\n\r\n0\r\n\r\n$/u, 'the last event is whole');
  slow.destroy();
});

test('a reader that stays away is disconnected for good', async (t) => {
  const server = await WatchServer.start(t);
  const slow = connect(server.port, '127.0.0.1');
  slow.on('error', () => undefined);
  slow.write(`GET ${server.type.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(slow, 'readable');
  const text = 'x'.repeat(500_000);
  for (let writes = 0; server.hub.size === 1 && writes < 200; writes += 1) await server.write('a', { text });
  t.equal(server.hub.size, 0);
  const [connection] = server.connections;
  const closed = once(connection ?? slow, 'close');
  server.clock.advance(10_000);
  await closed;
  t.equal(server.connections.size, 0);
  slow.destroy();
});

test('a disconnected peer is dropped', async (t) => {
  const server = await WatchServer.start(t);
  const stream = await open(server.url());
  t.equal(server.hub.size, 1);
  const [connection] = server.connections;
  const closed = connection === undefined ? undefined : once(connection, 'close');
  stream.res.destroy();
  await closed;
  t.equal(server.hub.size, 0);
  t.equal(server.clock.timers, 0);
});

test('HEAD returns the head of a watch', async (t) => {
  const server = await WatchServer.start(t);
  const response = await fetch(server.url(), { method: 'HEAD' });
  t.equal(response.status, 200);
  t.equal(server.hub.size, 0);
});
