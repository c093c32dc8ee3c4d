import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWTPayload } from 'jose';
import type { Test } from 'tap';

import { newKey, startIssuer } from '../../auth/oidc-issuer.ts';

type Grant = { readonly challenge: string; readonly redirectUri: string; readonly nonce: string };

export const clientId = 'ledgerplane-console';
export const clientSecret = 'the secret: of/the client';

/**
 * An OpenID Connect provider on a port of its own, which logs its one user in without a question. It checks what a
 * provider must: the client, the redirect URI, PKCE, and that a code is redeemed once.
 */
export async function startProvider(t: Test, now: () => number = () => Date.now()) {
  const key = await newKey('one');
  const issuer = await startIssuer(t, key, now);
  const { url, state } = issuer;
  const grants = new Map<string, Grant>();
  const behaviour = {
    /** The error with which the provider sends the browser back. */
    denies: undefined as string | undefined,
    /** Parameters of the redirect that differ. */
    redirect: {} as Readonly<Record<string, string>>,
    /** Claims of the ID token that differ; undefined: the claim is missing. */
    claims: {} as JWTPayload,
    signedBy: key,
    /** The token endpoint fails. */
    token: undefined as undefined | 'status' | 'hang' | 'large' | 'garbage' | 'redirect' | 'client',
    secret: clientSecret as string | undefined,
    /** The redirect URIs that are registered; undefined: any. */
    redirectUris: undefined as readonly string[] | undefined,
  };
  const requests = { token: [] as URLSearchParams[] };
  state.discovered = {
    authorization_endpoint: `${url}/authorize?tenant=1`,
    token_endpoint: `${url}/token`,
    authorization_response_iss_parameter_supported: true,
  };

  const authorize = (given: URLSearchParams, res: ServerResponse): void => {
    const redirectUri = given.get('redirect_uri') ?? '';
    const isKnown =
      given.get('tenant') === '1' &&
      given.get('client_id') === clientId &&
      given.get('response_type') === 'code' &&
      given.get('code_challenge_method') === 'S256' &&
      given.get('scope')?.split(' ').includes('openid') === true &&
      behaviour.redirectUris?.includes(redirectUri) !== false;
    if (!isKnown) {
      res.writeHead(400).end('an unknown client or redirect URI');
      return;
    }
    const code = randomUUID();
    grants.set(code, { challenge: given.get('code_challenge') ?? '', redirectUri, nonce: given.get('nonce') ?? '' });
    const back = new URL(redirectUri);
    const answer = behaviour.denies === undefined ? { code } : { error: behaviour.denies, error_description: '<b>no' };
    const all = { ...answer, state: given.get('state') ?? '', iss: url, ...behaviour.redirect };
    for (const [name, value] of Object.entries(all)) back.searchParams.set(name, value);
    res.writeHead(302, { location: back.href }).end();
  };

  const redeem = async (given: URLSearchParams, authorization: string, res: ServerResponse): Promise<void> => {
    requests.token.push(given);
    const json = (status: number, body: object): void => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    switch (behaviour.token) {
      case 'hang':
        return;
      case 'status':
        res.writeHead(500).end('broken');
        return;
      case 'garbage':
        res.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
        return;
      case 'large':
        json(200, { access_token: 'x'.repeat(10_000_000) });
        return;
      case 'redirect':
        res.writeHead(307, { location: `${url}/token?again` }).end();
        return;
      case 'client':
      case undefined:
    }
    if (behaviour.token === 'client' || !isClient(given, authorization, behaviour.secret)) {
      json(401, { error: 'invalid_client' });
      return;
    }
    const code = given.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge || grant.redirectUri !== given.get('redirect_uri')) {
      json(400, { error: 'invalid_grant' });
      return;
    }
    const iat = Math.floor(now() / 1_000);
    const idToken = await issuer.token(
      { aud: clientId, iat, nonce: grant.nonce, ...behaviour.claims },
      behaviour.signedBy,
    );
    json(200, { access_token: 'opaque', token_type: 'Bearer', expires_in: 300, id_token: idToken });
  };

  state.handle = (req, res) => {
    const target = new URL(req.url ?? '/', url);
    if (req.method === 'GET' && target.pathname === '/authorize') authorize(target.searchParams, res);
    else if (req.method === 'POST' && target.pathname === '/token')
      void bodyOf(req).then(async (body) => redeem(new URLSearchParams(body), req.headers.authorization ?? '', res));
    else return false;
    return true;
  };
  return { ...issuer, key, behaviour, requests };
}

function isClient(given: URLSearchParams, authorization: string, secret: string | undefined): boolean {
  if (secret === undefined) return given.get('client_id') === clientId && authorization === '';
  const encoded = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`;
  const [id, text] = Buffer.from(authorization.replace(/^Basic /u, ''), 'base64')
    .toString()
    .split(':');
  const decoded = `${decodeURIComponent(id ?? '')}:${decodeURIComponent((text ?? '').replaceAll('+', '%20'))}`;
  return decoded === decodeURIComponent(encoded);
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += String(chunk);
  return text;
}
