import { test, type Test } from 'tap';

import { systemClock } from '../../../src/base/clock.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { widgetType } from '../../support/watched-type.ts';
import { startEdge } from '../edge-server.ts';
import { RawConnection, readAnswers, type WireAnswer } from './wire.ts';

const type = widgetType();
const echoPath = '/apis/g/v1/echo';
const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
const webSocket = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const unknown = ['Connection: Upgrade', 'Upgrade: foo'];

type Kind = {
  readonly method: string;
  readonly path?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly status: number;
  readonly closes?: 'always' | 'unless behind others';
};

const sized = { headers: ['Content-Length: 5'], body: '12345' };
const chunked = { headers: ['Transfer-Encoding: chunked'], body: '5;x=y\r\n12345\r\n0\r\n\r\n' };

/** Every kind of request, with and without an offer to leave HTTP that is not taken. */
const kinds: Readonly<Record<string, Kind>> = {
  GET: { method: 'GET', path: '/healthz', status: 200 },
  HEAD: { method: 'HEAD', path: '/healthz', status: 200 },
  POST: { method: 'POST', ...sized, status: 200 },
  'POST in chunks': { method: 'POST', ...chunked, status: 200 },
  'POST without rights': { method: 'POST', path: type.path, ...sized, status: 401 },
  'POST with an expectation': {
    method: 'POST',
    headers: [...sized.headers, 'Expect: 100-continue'],
    body: sized.body,
    status: 200,
  },
  'GET with an unknown expectation': { method: 'GET', headers: ['Expect: more'], status: 417 },
  CONNECT: { method: 'CONNECT', path: 'a:1', status: 401, closes: 'always' },
  'GET h2c': { method: 'GET', path: '/healthz', headers: h2c, status: 200 },
  'HEAD unknown': { method: 'HEAD', path: '/healthz', headers: unknown, status: 200 },
  'GET unknown, with a body': {
    method: 'GET',
    path: '/healthz',
    headers: [...unknown, ...sized.headers],
    body: sized.body,
    status: 200,
  },
  'GET websocket of no socket': { method: 'GET', path: '/healthz', headers: webSocket, status: 200 },
  'GET websocket': { method: 'GET', path: type.path, headers: webSocket, status: 401, closes: 'unless behind others' },
  'POST h2c': { method: 'POST', headers: [...h2c, ...sized.headers], body: sized.body, status: 200 },
  'POST h2c in chunks': { method: 'POST', headers: [...h2c, ...chunked.headers], body: chunked.body, status: 200 },
  'POST websocket': { method: 'POST', headers: [...webSocket, ...sized.headers], body: sized.body, status: 200 },
  'POST h2c with an expectation': {
    method: 'POST',
    headers: [...h2c, ...sized.headers, 'Expect: 100-continue'],
    body: sized.body,
    status: 200,
  },
  'POST h2c without rights': {
    method: 'POST',
    path: type.path,
    headers: [...h2c, ...sized.headers],
    body: sized.body,
    status: 401,
  },
};

function bytesOf({ method, path = echoPath, headers = [], body = '' }: Kind, id: string): string {
  const credentials = path === echoPath ? ['Authorization: admin'] : [];
  const line = `${method} ${path} HTTP/1.1`;
  return [line, 'Host: x', `X-Request-Id: ${id}`, ...credentials, ...headers, '', body].join('\r\n');
}

/** An edge with one type and a plugin's route that answers with the body it was sent, some turns later. */
async function given(t: Test) {
  const registry = new TypeRegistry();
  registry.register(type);
  registry.serve(type.key);
  const edge = await startEdge({ registry, clock: systemClock });
  t.teardown(async () => edge.stop());
  const handler = async ({ body }: { readonly body?: unknown }) => {
    for (let turn = 0; turn < 3; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    return { body };
  };
  const routes = (['GET', 'POST'] as const).map((method) => ({ method, path: echoPath, handler }));
  edge.pluginRoutes.mount('echo', { sockets: [], routes });
  return edge;
}

/** An answer as the test compares it: its status, the request it names, and the body where it echoes one. */
function line({ status, headers, body }: WireAnswer, kind: Kind | undefined): string {
  return `${String(status)} ${headers.get('x-request-id') ?? ''}${isEcho(kind) ? ` ${body}` : ''}`;
}

function isEcho(kind: Kind | undefined): boolean {
  return kind?.method === 'POST' && kind.status === 200;
}

/** The violation in the answers to `sequence`, sent as one pipeline cut at `cut`; undefined without one. */
async function wrongWith(port: number, sequence: readonly string[], cut?: number): Promise<string | undefined> {
  const asked = sequence.map((name) => kinds[name]!);
  const bytes = asked.map((kind, index) => bytesOf(kind, `r${String(index)}`)).join('');
  const ends = asked.findIndex(({ closes }) => closes === 'always');
  const expected = ends === -1 ? asked : asked.slice(0, ends + 1);
  const connection = new RawConnection(port);
  await connection.send(...(cut === undefined ? [bytes] : [bytes.slice(0, cut), bytes.slice(cut)]));
  const isHead = (place: number): boolean => asked[place]?.method === 'HEAD';
  await connection.until((text) => readAnswers(text, isHead).answers.length >= expected.length);
  if (ends !== -1) await connection.closed();
  const { answers, rest } = readAnswers(connection.text, isHead);
  const got = answers.map((answer, index) => line(answer, asked[index]));
  const wanted = expected.map(
    (kind, index) => `${String(kind.status)} r${String(index)}${isEcho(kind) ? ' 12345' : ''}`,
  );
  const mayEnd = asked.findIndex(({ closes }) => closes === 'unless behind others') + 1;
  if (mayEnd > 0 && got.length === mayEnd && connection.isClosed) wanted.length = mayEnd;
  connection.socket.destroy();
  return got.join() === wanted.join() && rest === ''
    ? undefined
    : `${sequence.join(', ')} cut at ${String(cut)}: ${got.join()} ${JSON.stringify(rest)}`;
}

async function allRight(t: Test, runs: readonly (readonly [readonly string[], number | undefined])[]): Promise<void> {
  const edge = await given(t);
  const wrong: string[] = [];
  const waiting = [...runs];
  const work = async (): Promise<void> => {
    for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
      const problem = await wrongWith(edge.port, ...run);
      if (problem !== undefined) wrong.push(problem);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  t.strictSame(wrong.slice(0, 5), [], `${String(runs.length)} pipelines`);
  t.strictSame(
    edge.lines.filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  );
}

const names = Object.keys(kinds);
const isPlain = (name: string): boolean => kinds[name]?.closes === undefined;

test('each kind of request after each other one is answered in order', async (t) => {
  const seconds = (first: string) => names.map((second) => [[first, second, 'GET'], undefined] as const);
  await allRight(t, names.filter(isPlain).flatMap(seconds));
});

test('wherever the bytes are cut', async (t) => {
  const firsts = ['GET', 'HEAD', 'POST', 'POST in chunks'];
  const seconds = [
    'CONNECT',
    'GET h2c',
    'POST h2c',
    'POST h2c in chunks',
    'GET websocket of no socket',
    'HEAD unknown',
  ];
  await allRight(
    t,
    seconds.flatMap((second, index) => {
      const sequence = [firsts[index % firsts.length]!, second, 'GET'];
      const { length } = sequence.map((name) => bytesOf(kinds[name]!, 'r0')).join('');
      return Array.from({ length: length - 1 }, (_, cut) => [sequence, cut + 1] as const);
    }),
  );
});
