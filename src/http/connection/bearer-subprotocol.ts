import type { IncomingMessage } from 'node:http';

/**
 * The prefix of a subprotocol that contains a token. Browsers cannot set `Authorization` on a WebSocket, so Kubernetes'
 * clients offer the token as a subprotocol.
 */
const prefix = 'base64url.bearer.authorization.k8s.io.';

/** By request of a handshake: the subprotocol to confirm. */
const confirmed = new WeakMap<IncomingMessage, string>();

/**
 * Moves the token from the offered subprotocols of a handshake to `Authorization`, so that it is a usual credential,
 * and no other code sees it. Returns the problem of the offer, which never repeats the token. A client that offers a
 * token must offer exactly one other subprotocol, which is confirmed: a browser closes a connection without a confirmed
 * one.
 */
export function takeBearer(req: IncomingMessage): string | undefined {
  const { 'sec-websocket-protocol': offered, authorization } = req.headers;
  if (offered?.toLowerCase().includes(prefix) !== true) return undefined;
  const all = offered.split(',').map((name) => name.trim());
  const [bearer = '', ...more] = all.filter((name) => name.toLowerCase().includes(prefix));
  const [other, ...others] = all.filter((name) => !name.toLowerCase().includes(prefix));
  // Comes before any check: no later step may see a refused token.
  req.headers['sec-websocket-protocol'] = other ?? '';
  if (more.length > 0) return 'Sec-WebSocket-Protocol has more than one bearer token: send one';
  if (authorization !== undefined)
    return 'the request has a token in Sec-WebSocket-Protocol and an Authorization header: send one of them';
  if (other === undefined || other === '')
    return 'missing additional subprotocol: beside the token offer another one, which is confirmed';
  if (others.length > 0) return 'offer exactly one other subprotocol beside the token';
  const token = decoded(bearer);
  if (token === undefined) return `${prefix}<token> must have a token in base64url without padding`;
  req.headers.authorization = `Bearer ${token}`;
  confirmed.set(req, other);
  return undefined;
}

/** The other subprotocol that was offered with a token. */
export function besideBearer(req: IncomingMessage): string | undefined {
  return confirmed.get(req);
}

/** The token; undefined if the text is not the canonical base64url of visible ASCII characters. */
function decoded(bearer: string): string | undefined {
  if (!bearer.startsWith(prefix)) return undefined;
  const encoded = bearer.slice(prefix.length);
  const token = Buffer.from(encoded, 'base64url').toString('latin1');
  if (Buffer.from(token, 'latin1').toString('base64url') !== encoded) return undefined;
  return /^[\x21-\x7e]+$/u.test(token) ? token : undefined;
}

/** The headers of a request without a token that it offers as a subprotocol. */
export function withoutBearer(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { 'sec-websocket-protocol': offered, ...others } = headers;
  return offered?.toLowerCase().includes(prefix) === true ? others : headers;
}
