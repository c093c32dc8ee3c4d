import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { test, type Test } from 'tap';
import { WebSocket } from 'ws';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const prefix = 'base64url.bearer.authorization.k8s.io.';
const offerOf = (token: string): string => prefix + Buffer.from(token).toString('base64url');

async function given(t: Test) {
  const lines: string[] = [];
  const logLines = {
    write: (line: string) => {
      lines.push(line);
    },
  };
  const server = await startTestServer({ logLines });
  t.teardown(async () => server.remove());
  const made = await server.call('/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', {
    method: 'POST',
    body: { metadata: { generateName: 'token-' } },
  });
  const { status } = (await made.json()) as { readonly status: { readonly token: string } };
  const path = `${server.url.replace('http', 'ws')}/api/v1alpha1/users?watch=true`;
  const open = (protocols: readonly string[], headers: Readonly<Record<string, string>> = {}): WebSocket =>
    new WebSocket(path, [...protocols], { headers }).on('error', () => undefined);
  return { token: status.token, open, lines };
}

/** The status and the detail of a refused handshake. */
async function refusalOf(socket: WebSocket): Promise<readonly [status: number | undefined, body: string]> {
  const [, res] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return [res.statusCode, await textOf(res)];
}

test('a token offered as a subprotocol opens a watch, and the other one is confirmed', async (t) => {
  const { token, open } = await given(t);
  for (const other of ['base64.binary.k8s.io', 'ours.example.com'])
    for (const offer of [
      [offerOf(token), other],
      [other, offerOf(token)],
    ]) {
      const socket = open(offer);
      const [data] = (await once(socket, 'message')) as [Buffer];
      t.match(JSON.parse(data.toString()), { type: 'ADDED', object: { kind: 'User' } });
      t.equal(socket.protocol, other);
      socket.terminate();
    }
});

test('a token of no use is refused, and no part of it is answered or logged', async (t) => {
  const { token, open, lines } = await given(t);
  const other = 'base64.binary.k8s.io';
  const encoded = Buffer.from(token).toString('base64url');
  const odd = Buffer.from('a token with spaces').toString('base64url');
  const wrong: readonly (readonly [offer: readonly string[], status: number, detail: RegExp])[] = [
    [[offerOf('pat_unknown'), other], 401, /the token is unknown, expired or revoked/u],
    [[offerOf(token), offerOf('pat_unknown'), other], 400, /more than one bearer token/u],
    [[offerOf(token), offerOf(`${token}x`), other], 400, /more than one bearer token/u],
    [[offerOf(token)], 400, /has only a token: offer another subprotocol/u],
    [[offerOf(token), other, 'a.third'], 400, /exactly one other subprotocol/u],
    [[prefix, other], 400, /must have a token in base64url without padding/u],
    [[`${prefix}${encoded}!`, other], 400, /must have a token in base64url/u],
    [[`${prefix}${odd}`, other], 400, /must have a token in base64url/u],
    [[`${prefix.toUpperCase()}${encoded}`, other], 400, /must have a token in base64url/u],
    [[`x.${prefix}${encoded}`, other], 400, /must have a token in base64url/u],
  ];
  for (const [offer, status, detail] of wrong) {
    const [got, body] = await refusalOf(open(offer));
    t.equal(got, status, offer.join());
    t.match(body, detail);
    t.notOk(
      offer.some((name) => name.startsWith(prefix) && name !== prefix && body.includes(name.slice(prefix.length))),
    );
  }
  const [both, body] = await refusalOf(open([offerOf(token), other], { authorization: adminAuthorization }));
  t.equal(both, 400);
  t.match(body, /and an Authorization header: send one of them/u);
  const logged = lines.join('');
  for (const secret of [token, encoded, odd]) t.notOk(logged.includes(secret));
});
