import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import type { Test } from 'tap';

export type SigningKey = {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly pem: string;
};

export async function newKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return {
    kid,
    alg,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    pem: await exportSPKI(publicKey),
  };
}

/** A small identity provider on a port of its own: discovery, keys, and tokens as a test wants them. */
export async function startIssuer(t: Test, key: SigningKey, now: () => number) {
  const state = {
    keys: [key.publicJwk],
    asked: [] as string[],
    fail: undefined as undefined | 'status' | 'hang' | 'garbage' | 'large' | 'redirect',
    discovered: {} as Record<string, unknown>,
    /** Further routes, tried before those of discovery and keys; true: answered. */
    handle: undefined as undefined | ((req: IncomingMessage, res: ServerResponse) => boolean),
  };
  const server = createServer((req, res) => {
    state.asked.push(req.url ?? '');
    if (state.fail === 'hang') return;
    if (state.fail === 'status') res.statusCode = 500;
    if (state.fail === 'redirect') res.writeHead(302, { location: `http://${req.headers.host ?? ''}/elsewhere` });
    if (state.fail === 'garbage') res.end('<html>');
    else if (state.fail === undefined && state.handle?.(req, res) === true) return;
    else if (state.fail === 'large') res.end(JSON.stringify({ keys: [], pad: 'x'.repeat(300_000) }));
    else if (req.url === '/keys' || req.url === '/elsewhere') res.end(JSON.stringify({ keys: state.keys }));
    else if (req.url === '/.well-known/openid-configuration')
      res.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, ...state.discovered }));
    else res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const claims = (): JWTPayload => ({
    iss: url,
    aud: 'ledgerplane',
    sub: 'jane',
    exp: Math.floor(now() / 1_000) + 300,
  });
  /** Signed by `by`, as `changes` says otherwise; a claim set to undefined is left out. */
  const token = async (changes: JWTPayload = {}, by: SigningKey = key): Promise<string> =>
    new SignJWT({ ...claims(), ...changes }).setProtectedHeader({ alg: by.alg, kid: by.kid }).sign(by.privateKey);
  return { url, state, claims, token };
}
