import type { IncomingMessage } from 'node:http';

/** Browsers cannot set `Authorization` on a WebSocket: Kubernetes' clients offer the token as a subprotocol instead. */
const prefix = 'base64url.bearer.authorization.k8s.io.';

/** The subprotocols to confirm, by the handshake's request. */
const confirmed = new WeakMap<IncomingMessage, string>();

/**
 * Moves the token in the offered subprotocols of a handshake to `Authorization`, so that it is a credential like any
 * other, and nothing else sees it. Returns the problem of the offer, which never repeats the token. With a token,
 * exactly one other subprotocol must be offered, and is confirmed: a browser closes a connection without one.
 */
export function takeBearer(req: IncomingMessage): string | undefined {
  const { 'sec-websocket-protocol': offered, authorization } = req.headers;
  if (offered?.toLowerCase().includes(prefix) !== true) return undefined;
  const all = offered.split(',').map((name) => name.trim());
  const [bearer = '', ...more] = all.filter((name) => name.toLowerCase().includes(prefix));
  const [other, ...others] = all.filter((name) => !name.toLowerCase().includes(prefix));
  // Before any check: no later step may see a token that was refused.
  req.headers['sec-websocket-protocol'] = other ?? '';
  if (more.length > 0) return 'Sec-WebSocket-Protocol has more than one bearer token: send one';
  if (authorization !== undefined)
    return 'the request has a token in Sec-WebSocket-Protocol and an Authorization header: send one of them';
  if (other === undefined || other === '')
    return 'missing additional subprotocol: beside the token offer another one, which is confirmed';
  if (others.length > 0) return 'beside the token exactly one other subprotocol can be offered';
  const token = decoded(bearer);
  if (token === undefined) return `${prefix}<token> must have a token in base64url without padding`;
  req.headers.authorization = `Bearer ${token}`;
  confirmed.set(req, other);
  return undefined;
}

/** The subprotocol that was offered beside a token. */
export function besideBearer(req: IncomingMessage): string | undefined {
  return confirmed.get(req);
}

/** Undefined for text that is not the canonical base64url of visible ASCII characters, as tokens are. */
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
