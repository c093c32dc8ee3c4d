import type { IncomingMessage } from 'node:http';

/** The prefix of a subprotocol with a token, as in Kubernetes. Browsers cannot set `Authorization` on a WebSocket. */
const prefix = 'base64url.bearer.authorization.k8s.io.';

/** For each handshake with a token, the subprotocol that the server confirms. */
const confirmed = new WeakMap<IncomingMessage, string>();

/**
 * Moves the token from the offered subprotocols of a handshake to `Authorization`. Returns the problem of a malformed
 * offer. The problem never contains the token.
 *
 * A client that offers a token must offer exactly one other subprotocol, which the server confirms. Browsers close a
 * connection without a confirmed subprotocol.
 */
export function takeBearer(req: IncomingMessage): string | undefined {
  const { 'sec-websocket-protocol': offered, authorization } = req.headers;
  if (offered?.toLowerCase().includes(prefix) !== true) return undefined;
  const all = offered.split(',').map((name) => name.trim());
  const [bearer = '', ...more] = all.filter((name) => name.toLowerCase().includes(prefix));
  const [other, ...others] = all.filter((name) => !name.toLowerCase().includes(prefix));
  // Removes the token before any check, so that no later step can read a refused token.
  req.headers['sec-websocket-protocol'] = other ?? '';
  if (more.length > 0) return 'Sec-WebSocket-Protocol has more than one bearer token: send one';
  if (authorization !== undefined)
    return 'the request has a token in Sec-WebSocket-Protocol and an Authorization header: send one of them';
  if (other === undefined || other === '')
    return 'Sec-WebSocket-Protocol has only a token: offer another subprotocol, which the server confirms';
  if (others.length > 0) return 'Sec-WebSocket-Protocol must have exactly one other subprotocol beside the token';
  const token = decoded(bearer);
  if (token === undefined) return `${prefix}<token> must have a token in base64url without padding`;
  req.headers.authorization = `Bearer ${token}`;
  confirmed.set(req, other);
  return undefined;
}

/** Returns the subprotocol that the client offered beside a token; undefined without a token. */
export function besideBearer(req: IncomingMessage): string | undefined {
  return confirmed.get(req);
}

/** Returns the token; undefined if the text is not canonical base64url of visible ASCII characters. */
function decoded(bearer: string): string | undefined {
  if (!bearer.startsWith(prefix)) return undefined;
  const encoded = bearer.slice(prefix.length);
  const token = Buffer.from(encoded, 'base64url').toString('latin1');
  if (Buffer.from(token, 'latin1').toString('base64url') !== encoded) return undefined;
  return /^[\x21-\x7e]+$/u.test(token) ? token : undefined;
}

export function withoutBearer(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { 'sec-websocket-protocol': offered, ...others } = headers;
  return offered?.toLowerCase().includes(prefix) === true ? others : headers;
}
