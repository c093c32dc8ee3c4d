import { join } from 'node:path';

/** The certificate of the authority that TLS=auto creates; commands trust it. */
export function authorityFile(dataDir: string): string {
  return join(dataDir, 'tls', 'ca.crt');
}
