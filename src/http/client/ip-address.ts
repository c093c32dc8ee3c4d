import { isIP, SocketAddress } from 'node:net';

/**
 * An IP address in its one spelling: IPv6 in lower case and compressed, and an IPv4-mapped one as IPv4. Undefined for any
 * other text, and for an address with a zone, which says nothing on another host.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return undefined;
  return family === 4 ? text : unmapped(new SocketAddress({ address: text, family: 'ipv6' }).address);
}

/** Text from the operating system, which is canonical but for the zone and the mapping. */
export function peerAddress(text: string): string {
  const zone = text.indexOf('%');
  return unmapped(zone === -1 ? text : text.slice(0, zone));
}

function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
