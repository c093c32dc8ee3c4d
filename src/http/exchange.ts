import type { IncomingMessage, ServerResponse } from 'node:http';

import type { From } from '../auth/authentication/authenticator.ts';
import type { Clock } from '../base/clock.ts';
import type { Cause } from '../command/event.ts';
import { actorOf, type Subject } from '../command/subject.ts';
import { userAgentLengthMax } from '../limits/requests.ts';
import type { NonResourceRequest, ResourceRequest } from '../resource/query/request-path.ts';
import type { RequestMemory, Serving } from './body/request-memory.ts';

/** The client of a request, according to the connection and trusted proxies. */
export type Sender = {
  /** The client's IP address in canonical form; empty if the connection was already closed. */
  readonly address: string;
  /** Whether the connection uses TLS, or a trusted proxy reports HTTPS. */
  readonly isSecure: boolean;
};

/** An authenticated and authorized request, with its decoded parts. */
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
  readonly clock: Clock;
  readonly memory: RequestMemory;
  readonly serving: Serving;
};

/** Returns a new signal that aborts when the client disconnects before the response has ended. */
export function disconnectSignalOf(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort();
  else
    res.once('close', () => {
      if (!res.writableFinished) controller.abort();
    });
  return controller.signal;
}

/** Returns the origin of a log-in: the client's address, and a signal for its disconnect. */
export function fromOf({ sender, res }: Exchange): From {
  return { address: sender.address, signal: () => disconnectSignalOf(res) };
}

const traceParent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/u;

/** Returns the cause to record in the events of a request. */
export function causeOf({ req, subject, requestId, info, sender: { address } }: Exchange): Cause {
  const userAgent = headerOf(req, 'user-agent');
  const trace = headerOf(req, 'traceparent');
  return {
    actor: actorOf(subject),
    ...(subject.kind === 'user' && subject.credential.kind === 'token' ? { token: subject.credential.name } : {}),
    verb: info.verb,
    requestId,
    ...(address === '' ? {} : { address }),
    ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, userAgentLengthMax) }),
    ...(trace !== undefined && traceParent.test(trace) ? { traceParent: trace } : {}),
  };
}

/** Returns a header as text. Repeated headers are joined with commas, as HTTP allows. */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
