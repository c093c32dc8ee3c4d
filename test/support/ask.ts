import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

export type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Requests an upgrade to a WebSocket; the status is 101 if the server accepts it. */
  readonly upgrade?: boolean;
  /** Resolves with the head of the response and disconnects: for responses that may never end. */
  readonly headOnly?: boolean;
};

export type Answered = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

const webSocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Sends one request on a connection of its own. The path is sent unchanged; `fetch` would normalize it. */
export async function ask(
  origin: string,
  path: string,
  { method = 'GET', headers = {}, body, upgrade = false, headOnly = false }: Asked = {},
): Promise<Answered> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const req = request({
      host: hostname,
      port,
      path,
      method,
      agent: false,
      headers: {
        ...(upgrade ? webSocket : {}),
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
    });
    req.on('error', reject);
    req.on('upgrade', (res, socket) => {
      socket.on('error', () => undefined).destroy();
      resolve({ status: res.statusCode ?? 0, headers: res.headers, text: '' });
    });
    req.on('response', (res) => {
      const answered = (text: string): void => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
      };
      if (headOnly) {
        res.destroy();
        answered('');
        return;
      }
      let text = '';
      res
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => {
          answered(text);
        })
        .on('error', reject);
    });
    req.end(body);
  });
}

/** Sends bytes that no client library would send, and returns all bytes up to the end of the connection. */
export async function askRaw(origin: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => {
      text += chunk;
    })
    .on('error', () => undefined);
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return text;
}

export function statusesOf(raw: string): readonly number[] {
  return [...raw.matchAll(/HTTP\/1\.1 (\d{3})/gu)].map(([, status]) => Number(status));
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
