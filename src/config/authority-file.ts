import { join } from 'node:path';

/** Returns the path of the authority's certificate with TLS=auto. Commands trust this authority. */
export function authorityFile(dataDir: string): string {
  return join(dataDir, 'tls', 'ca.crt');
}
