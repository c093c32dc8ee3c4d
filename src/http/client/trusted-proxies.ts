import { BlockList, isIP } from 'node:net';

/** Proxies with trusted forwarding headers, as addresses and CIDR ranges. */
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

  /** `address` must be canonical, or empty for a closed connection. */
  has(address: string): boolean {
    return !this.isEmpty && address !== '' && this.#ranges.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  }
}
