import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Subject } from '../../command/subject.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/** A watch that was authenticated, authorized and routed; its selection and start are still text. */
export type WatchRequest = {
  readonly type: ResourceType;
  /** The one object watched; absent on a collection. */
  readonly name?: string;
  /** The query as sent: selectors, resourceVersion and the like are decoded by the endpoint, which answers 400 itself. */
  readonly query: URLSearchParams;
  readonly subject: Subject;
  /** The client's. */
  readonly address: string;
  readonly requestId: string;
};

/** The watch side of the API, one method a transport. Both take over the connection and never throw. */
export type WatchEndpoints = {
  /** Chunked JSON lines, or server-sent events when `Accept` asks for them. */
  open(request: WatchRequest, req: IncomingMessage, res: ServerResponse): void;
  /** A WebSocket. `head` is what the client sent after its handshake. */
  upgrade(request: WatchRequest, req: IncomingMessage, socket: Duplex, head: Buffer): void;
};
