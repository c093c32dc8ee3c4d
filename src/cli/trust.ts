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
  /** LEDGERPLANE_CA. */
  readonly file: string | undefined;
  /** The base of a relative path. */
  readonly folder: string;
  /** Undefined: no authority there counts. */
  readonly dataDir: string | undefined;
  /** The address or name that the settings' server listens on. */
  readonly host: string;
};

/** The authority that a server's certificate must come from: its PEM text, and where it was read. */
export type Authority = { readonly file: string; readonly text: string };

/**
 * The authority in LEDGERPLANE_CA; without that the one in DATA_DIR, for the names in its server's certificate.
 * Undefined: those that Node trusts.
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
    // The server has a certificate of another authority, or belongs to another user.
    return undefined;
  }
}

function given(file: string): Authority {
  try {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('-----BEGIN')) throw new Error('it has no certificate in PEM format');
    // TLS itself skips what it cannot read.
    new X509Certificate(text).checkHost('');
    return { file, text };
  } catch (error) {
    const reason = messageOf(error);
    throw usageError(`LEDGERPLANE_CA names ${JSON.stringify(file)}, which cannot be used: ${reason}`);
  }
}
