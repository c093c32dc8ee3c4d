import { IncomingMessage } from 'node:http';

/**
 * Returns whether a request with an upgrade offer leaves HTTP, that is, whether the server accepts the upgrade. Must
 * not throw.
 */
export type Leaves = (req: IncomingMessage) => boolean;

/**
 * A request that offers an upgrade, or a CONNECT. Node's parser stops at the end of every such request, whether or not
 * the offer is accepted. If `upgrade` is true, Node passes the connection on. Otherwise the rest of the data that was
 * read with the request is lost, even with `shouldUpgradeCallback`.
 *
 * Therefore `upgrade` is true from the start for a request that leaves HTTP. Every other request is served as if it had
 * no offer, and `upgrade` becomes true at the end of the request. The server then emits the rest of the connection as
 * the event `upgrade` or `connect`, and a new parser reads the connection.
 */
class OfferingRequest extends IncomingMessage {
  #offer: 'none' | 'open' | 'accepted' | 'declined' = 'none';

  get upgrade(): boolean {
    if (this.#offer === 'none') return false;
    if (this.#offer === 'open') this.#offer = this.leaves() ? 'accepted' : 'declined';
    return this.#offer === 'accepted' || this.complete;
  }

  /** Node's constructor also calls this setter, with null. */
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

/** Creates the class of the server's requests. */
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
 * Whether the request offers a WebSocket (RFC 6455, 4.1). An offer in HTTP/1.0 has no meaning (RFC 9110, 7.8). A
 * request with a body makes no valid offer, since the body would be read as frames.
 */
export function offersWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody;
}
