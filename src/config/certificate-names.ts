import { isIP } from 'node:net';

import { isHostName } from '../base/host-names.ts';

/** The names and addresses by which a server's certificate can be verified. */
export type CertificateNames = {
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
};

/**
 * Returns the names for a server's certificate: localhost, the loopback addresses, the address or name on which the
 * server listens (`host`), and the host name of the machine. Excludes addresses with a zone, and the address of all
 * interfaces.
 */
export function certificateNames(host: string, hostName: string): CertificateNames {
  const isAddress = isIP(host) !== 0;
  const names = [isAddress ? '' : host, hostName]
    .filter(isHostName)
    .map((name) => name.toLowerCase().replace(/\.$/u, ''));
  const own = isAddress && !host.includes('%') && host !== '0.0.0.0' && !/^[0:]+$/u.test(host) ? [canonical(host)] : [];
  return { hosts: [...new Set(['localhost', ...names])], addresses: [...new Set(['127.0.0.1', '::1', ...own])] };
}

/** Returns the shortest form of an address. */
function canonical(address: string): string {
  if (isIP(address) === 4) return address;
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
