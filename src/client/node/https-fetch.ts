import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';

import type { Fetch } from '../requests.ts';

export type TlsTrust = {
  /**
   * The only authorities that may issue the server's certificate, as PEM. If undefined, Node's default authorities are
   * trusted.
   */
  readonly ca: string | undefined;
  /** The name in the server's certificate, if it differs from the URL's host name. */
  readonly serverName?: string | undefined;
};

const bodiless = new Set([204, 205, 304]);

/** Returns a `fetch` for https: URLs that reuses connections. With `ca`, the function trusts only these authorities. */
export function httpsFetch({ ca, serverName }: TlsTrust): Fetch {
  const agent = new Agent({
    keepAlive: true,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  });
  return async (url, { method = 'GET', headers = {}, body, signal }) => {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, {
        agent,
        method,
        headers: Object.fromEntries(new Headers(headers)),
        ...(signal === undefined || signal === null ? {} : { signal }),
      });
      sent.once('response', resolve).once('error', reject);
      sent.end(typeof body === 'string' ? body : undefined);
    });
    return answerOf(incoming);
  };
}

function answerOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0 } = incoming;
  if (status >= 300 && status < 400 && status !== 304) {
    incoming.destroy();
    throw new Error(`the server redirects (${String(status)}), which the client does not follow`);
  }
  const headers = new Headers();
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2)
    headers.append(incoming.rawHeaders[index] ?? '', incoming.rawHeaders[index + 1] ?? '');
  if (!bodiless.has(status)) return new Response(webStream(incoming), { status, headers });
  incoming.resume();
  return new Response(null, { status, headers });
}

/** Reads one chunk at a time, so that unread data stays in the socket. */
function webStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array, undefined> = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => {
        incoming.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
