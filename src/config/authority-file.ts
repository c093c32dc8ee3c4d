import { join } from 'node:path';

/** Returns the path of the certificate of the authority that TLS=auto creates. Commands trust this authority. */
export function authorityFile(dataDir: string): string {
  return join(dataDir, 'tls', 'ca.crt');
}
