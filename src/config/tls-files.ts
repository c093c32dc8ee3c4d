import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

import { messageOf } from '../base/error-message.ts';
import { tlsFileBytesMax } from '../limits/tls.ts';

/** A certificate with its intermediate certificates, and the private key, both as PEM. */
export type CertificatePair = {
  readonly certificate: string;
  readonly key: string;
  /** The start of the certificate's validity, in milliseconds since the Unix epoch. */
  readonly beginsAt: number;
  /** The end of the certificate's validity, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
};

/** The absolute paths of the files with a certificate and its key. */
export type CertificateFiles = {
  readonly certificate: string;
  readonly key: string;
};

export type ReadPair =
  { readonly ok: true; readonly pair: CertificatePair } | { readonly ok: false; readonly problems: readonly string[] };

type DecodedFile<T> = {
  readonly text: string;
  readonly value: T;
};

/** A problem of one file. The message does not contain the file's content. */
class FileProblem extends Error {}

/**
 * Reads both files, and checks that TLS can use the certificate and the key. Returns all problems together, without the
 * content of a file.
 */
export function readPair(files: CertificateFiles): ReadPair {
  const problems: string[] = [];
  const part = <T>(name: string, path: string, decode: (text: string) => T): DecodedFile<T> | undefined => {
    try {
      const text = readText(path);
      return { text, value: decode(text) };
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      problems.push(`${name} names ${JSON.stringify(path)}, which ${error.message}`);
      return undefined;
    }
  };
  const certificate = part('TLS_CERT', files.certificate, certificateIn);
  const key = part('TLS_KEY', files.key, keyIn);
  if (certificate === undefined || key === undefined) return { ok: false, problems };
  const misfit = misfitOf(certificate, key);
  if (misfit !== undefined) return { ok: false, problems: [misfit] };
  const { validFrom, validTo } = certificate.value;
  const pair = {
    certificate: certificate.text,
    key: key.text,
    beginsAt: Date.parse(validFrom),
    expiresAt: Date.parse(validTo),
  };
  return { ok: true, pair };
}

function readText(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    if (!fstatSync(descriptor).isFile()) throw new FileProblem('is not a file');
    const bytes = Buffer.alloc(tlsFileBytesMax + 1);
    const length = readSync(descriptor, bytes);
    if (length > tlsFileBytesMax) throw new FileProblem(`is longer than ${tlsFileBytesMax.toString()} bytes`);
    return bytes.toString('utf8', 0, length);
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    throw new FileProblem(isMissing(error) ? 'does not exist' : `cannot be read: ${messageOf(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function certificateIn(text: string): X509Certificate {
  if (!/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/u.test(text))
    throw new FileProblem('has no certificate in PEM format');
  try {
    return new X509Certificate(text);
  } catch {
    throw new FileProblem('has a certificate that cannot be read');
  }
}

function keyIn(text: string): KeyObject {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: *4, *ENCRYPTED/mu.test(text))
    throw new FileProblem('has an encrypted key: decrypt the key, and restrict the mode of the file');
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/u.test(text)) throw new FileProblem('has no private key in PEM format');
  try {
    return createPrivateKey(text);
  } catch {
    throw new FileProblem('has a private key that cannot be read');
  }
}

type Part<T> = {
  readonly text: string;
  readonly value: T;
};

function misfitOf(certificate: Part<X509Certificate>, key: Part<KeyObject>): string | undefined {
  if (!certificate.value.checkPrivateKey(key.value))
    return 'TLS_CERT and TLS_KEY do not match: the first certificate in TLS_CERT is for another key';
  try {
    createSecureContext({ cert: certificate.text, key: key.text });
    return undefined;
  } catch (error) {
    return `TLS_CERT and TLS_KEY cannot be used: ${messageOf(error)}`;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
