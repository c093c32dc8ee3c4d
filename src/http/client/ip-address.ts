import { isIP, SocketAddress } from 'node:net';

/**
 * Returns an IP address in canonical form: IPv6 compressed and in lower case, IPv4-mapped addresses as IPv4. Returns
 * undefined for any other text, and for an address with a zone.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return undefined;
  return family === 4 ? text : unmapped(new SocketAddress({ address: text, family: 'ipv6' }).address);
}

/** Canonicalizes an address from the operating system, which may have a zone, or may be an IPv4-mapped IPv6 address. */
export function peerAddress(text: string): string {
  const zone = text.indexOf('%');
  return unmapped(zone === -1 ? text : text.slice(0, zone));
}

function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
