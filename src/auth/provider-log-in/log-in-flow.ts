import { oidcFlowMs, oidcFlowsMax } from '../../limits/access.ts';
import { returnPathProblem } from './return-path.ts';

/** A log-in at the identity provider that a browser has begun. */
export type LogInFlow = {
  /** Identifies the flow. The provider returns `state` in the redirect. */
  readonly state: string;
  /** The provider puts the nonce into the ID token, which is then valid for this flow only. */
  readonly nonce: string;
  /** The secret of PKCE (RFC 7636): only the browser that began the flow can redeem the code. */
  readonly verifier: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The path to which the browser returns. */
  readonly returnPath: string;
};

type Connection = { readonly isSecure: boolean };

/**
 * Returns the prefix of the names of the cookies, one cookie for each flow. A browser accepts a cookie with the prefix
 * `__Host-` only from this host over TLS, so that no other host of the domain can set the cookie of a flow.
 */
function prefixOf({ isSecure }: Connection): string {
  return `${isSecure ? '__Host-' : ''}ledgerplane_login_`;
}

/**
 * Returns the `Set-Cookie` value of a flow. The flow is stored only in the cookie, so every node can finish the log-in.
 * The cookie is not signed, because a user gains nothing by changing it (docs/decisions/0083).
 */
export function flowCookie({ state, nonce, verifier, startedAt, returnPath }: LogInFlow, to: Connection): string {
  const value = [nonce, verifier, String(startedAt), Buffer.from(returnPath).toString('base64url')].join('.');
  return `${prefixOf(to)}${state}=${value}; Max-Age=${String(oidcFlowMs / 1_000)}; ${attributes(to)}`;
}

export function clearedFlowCookie(state: string, to: Connection): string {
  return `${prefixOf(to)}${state}=; Max-Age=0; ${attributes(to)}`;
}

function attributes({ isSecure }: Connection): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/**
 * Returns the flow with this state from a Cookie header; undefined if the browser has no such flow, or if the flow is
 * malformed or older than `oidcFlowMs`. Nodes may have different clocks, so the start of a flow may also be in the
 * future.
 */
export function flowIn(
  header: string | undefined,
  state: string,
  from: Connection,
  now: number,
): LogInFlow | undefined {
  const values = flowsIn(header, from).filter((flow) => flow.state === state);
  const [value] = values;
  const [, nonce = '', verifier = '', started = '', path = ''] =
    /^([\w-]{43})\.([\w-]{43})\.(\d{1,15})\.([\w-]{1,1024})$/u.exec(value?.text ?? '') ?? [];
  const startedAt = Number(started);
  const returnPath = Buffer.from(path, 'base64url').toString('utf8');
  const isUsable =
    values.length === 1 &&
    nonce !== '' &&
    Math.abs(now - startedAt) < oidcFlowMs &&
    returnPathProblem(returnPath) === undefined;
  return isUsable ? { state, nonce, verifier, startedAt, returnPath } : undefined;
}

/**
 * Returns the states of the oldest flows of a browser, so that `oidcFlowsMax` remain with a new one. A browser sends
 * older cookies first (RFC 6265, 5.4).
 */
export function supersededFlows(header: string | undefined, from: Connection): readonly string[] {
  const states = flowsIn(header, from).map(({ state }) => state);
  return states.slice(0, Math.max(0, states.length - oidcFlowsMax + 1));
}

function flowsIn(
  header: string | undefined,
  from: Connection,
): readonly { readonly state: string; readonly text: string }[] {
  const prefix = prefixOf(from);
  if (header?.includes(prefix) !== true) return [];
  return header.split(';').flatMap((pair) => {
    const [, name = '', text = ''] = /^\s*([\w-]+)=([\w.-]*)\s*$/u.exec(pair) ?? [];
    const state = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    return /^[\w-]{43}$/u.test(state) ? [{ state, text }] : [];
  });
}
