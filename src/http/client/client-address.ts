import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import { forwardedHopsMax } from '../../limits/addresses.ts';
import { headerOf, type Sender } from '../exchange.ts';
import { addressOfForwarded, addressOfXForwardedFor, hopsOf } from './forwarded-hops.ts';
import { peerAddress } from './ip-address.ts';
import { TrustedProxies } from './trusted-proxies.ts';

export type SenderOf = (req: IncomingMessage) => Sender;

type Peer = Sender & { readonly isTrusted: boolean };

/**
 * Creates a function that determines the client's address. Behind a trusted proxy, the address is the first untrusted
 * address from the right in `Forwarded` or `X-Forwarded-For`. Otherwise, both headers are ignored.
 */
export function createSenderOf(trustedProxies: readonly string[]): SenderOf {
  const proxies = new TrustedProxies(trustedProxies);
  const peers = new WeakMap<Socket, Peer>();
  const peerOf = (socket: Socket): Peer => {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const address = peerAddress(socket.remoteAddress ?? '');
    const peer = { address, isSecure: socket instanceof TLSSocket, isTrusted: proxies.has(address) };
    peers.set(socket, peer);
    return peer;
  };
  return (req) => {
    const peer = peerOf(req.socket);
    return peer.isTrusted ? forwarded(req, peer, proxies) : peer;
  };
}

function forwarded(req: IncomingMessage, peer: Peer, proxies: TrustedProxies): Sender {
  const byForwarded = headerOf(req, 'forwarded');
  const byX = headerOf(req, 'x-forwarded-for');
  const named = [
    ...(byForwarded === undefined ? [] : [walk(peer.address, hopsOf(byForwarded, addressOfForwarded), proxies)]),
    ...(byX === undefined ? [] : [walk(peer.address, hopsOf(byX, addressOfXForwardedFor), proxies)]),
  ];
  const [address = peer.address, other = address] = named;
  // A proxy writes one of the two headers, and may pass on the other header from the client. If the addresses differ,
  // the server uses neither header.
  return { address: address === other ? address : peer.address, isSecure: peer.isSecure || saysHttps(req) };
}

/**
 * Returns the first untrusted address. Without such an address, returns the last valid hop; without a hop, returns
 * `peer`.
 */
function walk(peer: string, hops: Iterable<string>, proxies: TrustedProxies): string {
  let [address, count] = [peer, 0];
  for (const hop of hops) {
    count += 1;
    if (count > forwardedHopsMax) break;
    address = hop;
    if (!proxies.has(hop)) break;
  }
  return address;
}

/** Returns whether a hop reports HTTPS. A client that forges this header affects only its own cookie. */
function saysHttps(req: IncomingMessage): boolean {
  const byX = headerOf(req, 'x-forwarded-proto') ?? '';
  return (
    /(?:^|,)\s*https\s*(?:,|$)/iu.test(byX) ||
    /(?:^|[;,])\s*proto="?https"?\s*(?:[;,]|$)/iu.test(headerOf(req, 'forwarded') ?? '')
  );
}
