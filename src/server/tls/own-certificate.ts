import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { StartError } from '../../base/start-error.ts';
import { authorityFile } from '../../config/authority-file.ts';
import { certificateNames, type CertificateNames } from '../../config/certificate-names.ts';
import type { Config } from '../../config/config.ts';
import { readPair, type CertificateFiles, type CertificatePair } from '../../config/tls-files.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { writeDurably } from '../../disk/durable-file.ts';
import { authorityYears, certificateDays, clockSkewMs, renewalShare } from '../../limits/tls.ts';
import type { Issued } from './issue-certificate.ts';

const dayMs = 86_400_000;

/**
 * Returns the certificate in DATA_DIR/tls, signed by the authority in the same folder. Creates the certificate and the
 * authority if missing. Replaces a certificate that is invalid, due for renewal, or has other names than the server.
 *
 * @throws StartError if only the operator can fix the problem.
 */
export async function ownCertificate(
  { dataDir, host }: Pick<Config, 'dataDir' | 'host'>,
  now: number,
): Promise<CertificatePair> {
  const dir = privateDir(join(dataDir, 'tls'));
  const authority = await authorityIn(dataDir, now);
  const files = { certificate: join(dir, 'server.crt'), key: join(dir, 'server.key') };
  const names = certificateNames(host, hostname());
  const present = presentIn(files);
  if (present !== undefined && isGood(present, { authority, names, now })) return present;
  const { issueCertificate } = await import('./issue-certificate.ts');
  const end = new X509Certificate(authority.certificate).validTo;
  const to = Math.min(now + certificateDays * dayMs, Date.parse(end));
  const issued = await issueCertificate(authority, { names, validity: { from: now - clockSkewMs, to } });
  // If the process is killed between both writes, the pair is invalid, and the next start creates a new pair.
  await writeDurably(files.key, issued.key);
  await writeDurably(files.certificate, issued.certificate);
  const made = presentIn(files);
  if (made === undefined) throw new Error(`the certificate in ${dir} was written but cannot be read`);
  return made;
}

/** Returns whether the certificate is due for renewal. */
export function isDue({ beginsAt, expiresAt }: CertificatePair, now: number): boolean {
  return now >= beginsAt + renewalShare * (expiresAt - beginsAt);
}

function presentIn(files: CertificateFiles): CertificatePair | undefined {
  const read = readPair(files);
  return read.ok ? read.pair : undefined;
}

type Wanted = {
  readonly authority: Issued;
  readonly names: CertificateNames;
  readonly now: number;
};

function isGood(pair: CertificatePair, { authority, names, now }: Wanted): boolean {
  const certificate = new X509Certificate(pair.certificate);
  const issuer = new X509Certificate(authority.certificate);
  if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) return false;
  if (now < pair.beginsAt || isDue(pair, now)) return false;
  const count = (certificate.subjectAltName ?? '').split(', ').length;
  return (
    count === names.hosts.length + names.addresses.length &&
    names.hosts.every((name) => certificate.checkHost(name) !== undefined) &&
    names.addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/**
 * Returns the authority; creates a missing authority. Only the operator may replace an authority, because clients trust
 * the authority for years.
 *
 * @throws StartError if the authority is expired or invalid.
 */
async function authorityIn(dataDir: string, now: number): Promise<Issued> {
  const files = { certificate: authorityFile(dataDir), key: join(dataDir, 'tls', 'ca.key') };
  if (!existsSync(files.certificate)) {
    const { makeAuthority } = await import('./issue-certificate.ts');
    const made = await makeAuthority({ from: now - clockSkewMs, to: yearsAfter(now, authorityYears) });
    // The certificate is written last. If the process is killed between both writes, the next start creates a new
    // authority.
    await writeDurably(files.key, made.key);
    await writeDurably(files.certificate, made.certificate);
    return made;
  }
  const read = readPair(files);
  const problem = read.ok ? expiryProblem(read.pair, now) : 'the certificate or its key ca.key is missing or invalid';
  if (problem !== undefined)
    throw new StartError(
      `the authority in ${files.certificate} cannot be used: ${problem}; ` +
        `restore ${join(dataDir, 'tls')} from a backup, ` +
        'or remove the folder: the next start creates a new authority, which you must add to every client',
      { exitCode: 2 },
    );
  return { certificate: readFileSync(files.certificate, 'utf8'), key: readFileSync(files.key, 'utf8') };
}

function expiryProblem({ expiresAt }: CertificatePair, now: number): string | undefined {
  return now < expiresAt ? undefined : `it expired on ${new Date(expiresAt).toISOString()}`;
}

function yearsAfter(at: number, years: number): number {
  const date = new Date(at);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
}
