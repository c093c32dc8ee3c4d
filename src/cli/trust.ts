import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';

import { messageOf } from '../base/error-message.ts';
import { authorityFile } from '../config/authority-file.ts';
import { certificateNames } from '../config/certificate-names.ts';
import { usageError } from './failure.ts';

export type TrustContext = {
  readonly url: URL;
  /** The value of LEDGERPLANE_CA. */
  readonly file: string | undefined;
  /** The folder to which a relative path in LEDGERPLANE_CA refers. */
  readonly folder: string;
  /** The folder with the server's own authority; if undefined, this authority is not used. */
  readonly dataDir: string | undefined;
  /** The address or name on which the server of these settings listens. */
  readonly host: string;
};

/** The authority that must have issued a server's certificate: the PEM text and the path of the file. */
export type Authority = {
  readonly file: string;
  readonly text: string;
};

/**
 * Returns the authority in LEDGERPLANE_CA. Without this setting, returns the authority in DATA_DIR if the server's own
 * certificate is valid for the host of the URL. Returns undefined for plain HTTP, and if Node's default authorities are
 * to be used.
 */
export function authorityFor({ url, file, folder, dataDir, host }: TrustContext): Authority | undefined {
  if (url.protocol !== 'https:') return undefined;
  if (file !== undefined) return given(resolve(folder, file));
  if (dataDir === undefined) return undefined;
  const { hosts, addresses } = certificateNames(host, hostname());
  const name = url.hostname.replace(/^\[(.*)\]$/u, '$1').replace(/\.$/u, '');
  if (!hosts.includes(name) && !addresses.includes(name)) return undefined;
  const own = authorityFile(dataDir);
  try {
    return { file: own, text: readFileSync(own, 'utf8') };
  } catch {
    // The server has a certificate of another authority, or the file belongs to another user.
    return undefined;
  }
}

function given(file: string): Authority {
  try {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('-----BEGIN')) throw new Error('the file contains no certificate in PEM format');
    // Parses the first certificate, because TLS silently skips an unreadable certificate.
    new X509Certificate(text).checkHost('');
    return { file, text };
  } catch (error) {
    const reason = messageOf(error);
    throw usageError(`LEDGERPLANE_CA: the file ${JSON.stringify(file)} cannot be used: ${reason}`);
  }
}
