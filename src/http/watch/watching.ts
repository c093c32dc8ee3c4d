import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Subject } from '../../command/subject.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/** An authenticated, authorized and routed request for a watch. Its selection and start are not decoded yet. */
export type WatchRequest = {
  readonly type: ResourceType;
  /** The watched object; absent for a collection. */
  readonly name?: string;
  /**
   * The query as sent. The endpoint decodes selectors, resourceVersion and other parameters, and refuses invalid values
   * with 400.
   */
  readonly query: URLSearchParams;
  readonly subject: Subject;
  /** The network of the client's IP address (`networkOf`), to which limits by address apply. */
  readonly address: string;
  readonly requestId: string;
};

/** A collection of objects that a platform route serves, with the endpoints of its watches. */
export type WatchedRoute = {
  readonly type: ResourceType;
  readonly endpoints: WatchEndpoints;
};

/** The watch API, one method for each transport. Both take over the connection and never throw. */
export type WatchEndpoints = {
  /** Serves a watch as chunked JSON lines, or as server-sent events if `Accept` requests them. */
  open(request: WatchRequest, req: IncomingMessage, res: ServerResponse): void;
  /** Serves a watch over a WebSocket. `head` is the data that the client sent after its handshake. */
  upgrade(request: WatchRequest, req: IncomingMessage, socket: Duplex, head: Buffer): void;
};
