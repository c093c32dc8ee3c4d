import { IncomingMessage } from 'node:http';

/** Returns whether the server accepts the upgrade that a request offers. Must not throw. */
export type Leaves = (req: IncomingMessage) => boolean;

/**
 * A request that offers an upgrade, or a CONNECT. Node's parser stops at the end of the request, even if the server
 * declines the offer. Node passes the connection on if `upgrade` is true; otherwise Node loses the data after the
 * request.
 *
 * Therefore `upgrade` becomes true at the end of a declined request, which the server handles as usual. A new parser
 * reads the rest of the connection.
 */
class OfferingRequest extends IncomingMessage {
  #offer: 'none' | 'open' | 'accepted' | 'declined' = 'none';

  get upgrade(): boolean {
    if (this.#offer === 'none') return false;
    if (this.#offer === 'open') this.#offer = this.leaves() ? 'accepted' : 'declined';
    return this.#offer === 'accepted' || this.complete;
  }

  /** Node's constructor calls this setter with null. */
  set upgrade(offers: boolean | null) {
    if (offers === true && this.#offer === 'none') this.#offer = 'open';
  }

  get isTaken(): boolean {
    return this.#offer === 'accepted';
  }

  protected leaves(): boolean {
    return false;
  }
}

export function requestClass(leaves: Leaves): typeof IncomingMessage {
  return class extends OfferingRequest {
    protected override leaves(): boolean {
      return leaves(this);
    }
  };
}

export function leavesHttp(req: IncomingMessage): boolean {
  return req instanceof OfferingRequest && req.isTaken;
}

/**
 * Returns whether the request offers a WebSocket (RFC 6455, 4.1). HTTP/1.0 has no upgrades (RFC 9110, 7.8). A request
 * with a body makes no valid offer, because the body would be read as frames.
 */
export function offersWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody;
}
