import { once } from 'node:events';
import { Agent, request, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

import { startGadgetServer, type KubernetesObject } from '../../support/kubernetes/gadgets.ts';
import { adminAuthorization, type TestServer } from '../../support/server/start-server.ts';

export type Sent = {
  readonly headers?: OutgoingHttpHeaders;
  /** Text and bytes are sent as they are, any other value as JSON. */
  readonly body?: unknown;
};

export type Received<T> = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: T };

/** A Status, in the members that clients read. */
export type Status = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly code: number;
};

export type ObjectList = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly KubernetesObject[];
};

export type WatchEvent = {
  readonly type: string;
  readonly object: KubernetesObject & { readonly code?: number; readonly reason?: string };
};

/** Requests exactly as a client writes them: nothing is added but Host, the credentials and the body's length. */
export class ClientRequests {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #watches = new Set<EventStream>();
  server: TestServer;

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async given(t: Test): Promise<ClientRequests> {
    const client = new ClientRequests(await startGadgetServer(t));
    t.teardown(async () => {
      for (const watch of client.#watches) watch.leave();
      client.#agent.destroy();
      await client.server.remove();
    });
    return client;
  }

  async send<T = Status>(method: string, target: string, sent: Sent = {}): Promise<Received<T>> {
    const res = await this.#answered(method, target, sent);
    const body = await text(res);
    return { status: res.statusCode ?? 0, headers: res.headers, body: (body === '' ? {} : JSON.parse(body)) as T };
  }

  async watch(target: string, headers: OutgoingHttpHeaders = {}): Promise<EventStream> {
    const res = await this.#answered('GET', target, { headers });
    if (res.statusCode !== 200) throw new Error(`the watch was refused: ${await text(res)}`);
    const stream = new EventStream(res);
    this.#watches.add(stream);
    return stream;
  }

  async #answered(method: string, target: string, { headers = {}, body }: Sent): Promise<IncomingMessage> {
    const isReady = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const bytes = isReady ? body : JSON.stringify(body);
    const { hostname, port } = new URL(this.server.url);
    const req = request({
      ...{ method, path: target, hostname, port, agent: this.#agent },
      headers: {
        authorization: adminAuthorization,
        ...(bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) }),
        ...headers,
      },
    });
    req.end(bytes);
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    return res;
  }
}

/** A watch's events, one after another. */
export class EventStream {
  readonly headers: IncomingHttpHeaders;
  readonly #res: IncomingMessage;
  readonly #events: WatchEvent[] = [];
  #isEnded = false;
  #woken: () => void = () => undefined;

  constructor(res: IncomingMessage) {
    this.#res = res;
    this.headers = res.headers;
    res.on('error', () => undefined);
    createInterface(res)
      .on('line', (line) => {
        if (line !== '') this.#events.push(JSON.parse(line) as WatchEvent);
        this.#woken();
      })
      .on('close', () => {
        this.#isEnded = true;
        this.#woken();
      });
  }

  /** Undefined at the end of the stream. */
  async next(): Promise<WatchEvent | undefined> {
    while (this.#events.length === 0 && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    return this.#events.shift();
  }

  leave(): void {
    this.#res.destroy();
  }
}

/** Without this form Go's clients and others have no reason, and show a text of their own. */
export function isNotFound({ status, body }: Received<Status>): boolean {
  return status === 404 && body.kind === 'Status' && body.status === 'Failure' && body.reason === 'NotFound';
}
