import { resolve } from 'node:path';

import { pathProblem } from './setting-problems.ts';
import type { Settings } from './settings.ts';
import { readPair, type CertificateFiles } from './tls-files.ts';

/**
 * The encryption of connections to PORT: none, with the operator's certificate and key (`files`), or with a certificate
 * of the server's own authority in DATA_DIR (`auto`).
 */
export type TlsSetting =
  { readonly kind: 'off' } | { readonly kind: 'files'; readonly files: CertificateFiles } | { readonly kind: 'auto' };

export const tlsKinds = ['off', 'auto', 'files'] as const;

type Surroundings = {
  /** The base of relative paths. */
  readonly folder: string;
  readonly mistakes: string[];
  /** Whether no other node shares the log. */
  readonly isAlone: boolean;
};

/** Decodes TLS, TLS_CERT and TLS_KEY, and checks the files. */
export function tlsSetting(settings: Settings, { folder, mistakes, isAlone }: Surroundings): TlsSetting {
  const kind = settings.oneOf('TLS', 'off', tlsKinds);
  const paths = {
    certificate: settings.optional('TLS_CERT', pathProblem),
    key: settings.optional('TLS_KEY', pathProblem),
  };
  if (kind !== 'files') {
    for (const [name, path] of [
      ['TLS_CERT', paths.certificate],
      ['TLS_KEY', paths.key],
    ] as const)
      if (path !== undefined) mistakes.push(`${name} has no effect unless TLS is files`);
    if (kind === 'auto' && !isAlone)
      mistakes.push(
        'TLS must not be auto with an EventStoreDB: use files, because several nodes need one certificate authority',
      );
    return { kind };
  }
  if (paths.certificate === undefined) mistakes.push('TLS_CERT is required when TLS is files');
  if (paths.key === undefined) mistakes.push('TLS_KEY is required when TLS is files');
  if (paths.certificate === undefined || paths.key === undefined) return { kind: 'off' };
  const files = { certificate: resolve(folder, paths.certificate), key: resolve(folder, paths.key) };
  const read = readPair(files);
  if (!read.ok) mistakes.push(...read.problems);
  return { kind: 'files', files };
}
