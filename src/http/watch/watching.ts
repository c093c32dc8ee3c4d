import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Subject } from '../../command/subject.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/** An authenticated and authorized request for a watch. The query is not decoded yet. */
export type WatchRequest = {
  readonly type: ResourceType;
  /** The watched object; absent for a collection. */
  readonly name?: string;
  readonly query: URLSearchParams;
  readonly subject: Subject;
  /** The network of the client's IP address, for limits by address. */
  readonly address: string;
  readonly requestId: string;
};

/** A collection that a platform route serves, with the endpoints of its watches. */
export type WatchedRoute = {
  readonly type: ResourceType;
  readonly endpoints: WatchEndpoints;
};

/** The watch API. The methods take over the connection and never throw. */
export type WatchEndpoints = {
  /** Serves a watch as chunked JSON lines, or as server-sent events if `Accept` requests server-sent events. */
  open(request: WatchRequest, req: IncomingMessage, res: ServerResponse): void;
  /** Serves a watch over a WebSocket. `head` is the data that the client sent after its handshake. */
  upgrade(request: WatchRequest, req: IncomingMessage, socket: Duplex, head: Buffer): void;
};
