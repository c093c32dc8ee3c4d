/**
 * Returns the network of an address, for limits by address. The network of an IPv4 address is the address itself. The
 * network of an IPv6 address is its /64, because one client usually has all addresses of a /64. `address` must be in
 * canonical form (compressed, IPv4 never mapped).
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // The last 32 bits may be in IPv4 notation, which replaces two groups.
  const groups = [...before, ...after].reduce((sum, group) => sum + (group.includes('.') ? 2 : 1), 0);
  const zeros = Array.from({ length: Math.max(0, 8 - groups) }, () => '0');
  const all = tail === undefined ? before : [...before, ...zeros, ...after];
  return `${all.slice(0, 4).join(':')}::/64`;
}

/**
 * Returns the widest address range that one client commonly has: an IPv4 address, or the /48 of an IPv6 network.
 * `network` is a result of `networkOf`. The range is not suitable for limits, because several clients of one provider
 * may share a /48.
 */
export function siteOf(network: string): string {
  return network.endsWith('::/64') ? `${network.split(':').slice(0, 3).join(':')}::/48` : network;
}
