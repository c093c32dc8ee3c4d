import type { IncomingMessage, ServerResponse } from 'node:http';

import type { From } from '../auth/authentication/authenticator.ts';
import type { Subject } from '../command/subject.ts';
import type { NonResourceRequest, ResourceRequest } from '../resource/query/request-path.ts';
import type { RequestMemory, Serving } from './body/request-memory.ts';

/** Who sent a request, as far as the connection and trusted proxies say. */
export type Sender = {
  /** The client's IP address in its one spelling; empty where the connection was gone before it was read. */
  readonly address: string;
  /** The client's own connection is over TLS, here or at a trusted proxy. */
  readonly isSecure: boolean;
};

/** A request past authentication and authorization, with what was learnt of it. */
export type Exchange = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly method: string;
  readonly info: ResourceRequest | NonResourceRequest;
  readonly query: URLSearchParams;
  /** The query as sent, without `?`. */
  readonly rawQuery: string;
  readonly subject: Subject;
  readonly sender: Sender;
  readonly memory: RequestMemory;
  readonly serving: Serving;
};

/** Aborts when the client goes before its answer has ended. Made on demand: most requests never need it. */
export function goneSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort();
  else res.once('close', () => { if (!res.writableFinished) controller.abort(); });
  return controller.signal;
}

/** Where an attempt to log in comes from, and whether its client still waits. */
export function fromOf({ sender, res }: Exchange): From {
  return { address: sender.address, gone: () => goneSignal(res) };
}

/** A header that may be sent only once, as text; repeated ones are joined as HTTP allows. */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
