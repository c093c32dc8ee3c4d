import { BlockList, isIP } from 'node:net';

/** The proxies with trusted forwarding headers: addresses and CIDR ranges, validated with the settings. */
export class TrustedProxies {
  readonly #ranges = new BlockList();
  readonly isEmpty: boolean;

  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0;
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      const isV6 = isIP(address) === 6;
      this.#ranges.addSubnet(
        address,
        prefix === undefined ? (isV6 ? 128 : 32) : Number(prefix),
        isV6 ? 'ipv6' : 'ipv4',
      );
    }
  }

  /** Whether the address belongs to a trusted proxy. `address` is canonical, or empty for a closed connection. */
  has(address: string): boolean {
    return !this.isEmpty && address !== '' && this.#ranges.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  }
}
