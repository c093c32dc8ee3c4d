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
  /** The base of a relative path. */
  readonly folder: string;
  /** The folder of the server's own authority; undefined: do not use one. */
  readonly dataDir: string | undefined;
  /** The address or name on which the server of these settings listens. */
  readonly host: string;
};

/** The authority that must have issued a server's certificate: its PEM text, and its file. */
export type Authority = { readonly file: string; readonly text: string };

/**
 * The authority in LEDGERPLANE_CA. Without that setting: the authority in DATA_DIR, if the URL names a host of its
 * certificate. Undefined: the authorities that Node trusts.
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
    // Without a readable file: the server has a certificate of another authority, or belongs to another user.
    return undefined;
  }
}

function given(file: string): Authority {
  try {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('-----BEGIN')) throw new Error('it has no certificate in PEM format');
    // Checks each certificate, since TLS silently skips an unreadable one.
    new X509Certificate(text).checkHost('');
    return { file, text };
  } catch (error) {
    const reason = messageOf(error);
    throw usageError(`LEDGERPLANE_CA names ${JSON.stringify(file)}, which cannot be used: ${reason}`);
  }
}
