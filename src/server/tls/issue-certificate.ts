import { createHash, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

import { BitString, Integer, OctetString, Utf8String } from 'asn1js';
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
  Time,
  TimeType,
} from 'pkijs';

import type { CertificateNames } from '../../config/certificate-names.ts';

/** A certificate and its key, as PEM. */
export type Issued = {
  readonly certificate: string;
  readonly key: string;
};

export type Validity = {
  readonly from: number;
  readonly to: number;
};

const ecdsaP256 = { name: 'ECDSA', namedCurve: 'P-256' } as const;
/** Object identifiers of RFC 5280. */
const id = {
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;
/** The key usage bits: digitalSignature, and keyCertSign with cRLSign (RFC 5280, 4.2.1.3). */
const signsHandshakes = 0b1000_0000;
const signsCertificates = 0b0000_0110;

/** Creates an authority with a unique name, so that clients do not confuse two authorities. */
export async function makeAuthority(validity: Validity): Promise<Issued> {
  const keys = await newKeys();
  const name = `Ledgerplane authority ${randomBytes(4).toString('hex')}`;
  const certificate = await newCertificate(keys.publicKey, { subject: name, validity });
  setName(certificate, 'issuer', name);
  certificate.extensions = [
    extension(id.basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
    extension(id.keyUsage, usage(signsCertificates), true),
    extension(id.subjectKeyIdentifier, new OctetString({ valueHex: keyIdentifier(certificate) })),
  ];
  return signed(certificate, keys, keys.privateKey);
}

/** Issues a server certificate with a new key, signed by `authority`. */
export async function issueCertificate(
  authority: Issued,
  { names, validity }: { readonly names: CertificateNames; readonly validity: Validity },
): Promise<Issued> {
  const keys = await newKeys();
  const issuer = Certificate.fromBER(derOf(authority.certificate));
  const signingKey = await webcrypto.subtle.importKey('pkcs8', derOf(authority.key), ecdsaP256, false, ['sign']);
  const certificate = await newCertificate(keys.publicKey, { subject: names.hosts.at(-1) ?? 'localhost', validity });
  certificate.issuer = issuer.subject;
  const alternatives = [
    ...names.hosts.map((value) => new GeneralName({ type: 2, value })),
    ...names.addresses.map(
      (address) => new GeneralName({ type: 7, value: new OctetString({ valueHex: bytesOf(address) }) }),
    ),
  ];
  const keyOfIssuer = new AuthorityKeyIdentifier({
    keyIdentifier: new OctetString({ valueHex: keyIdentifier(issuer) }),
  });
  certificate.extensions = [
    extension(id.basicConstraints, new BasicConstraints({ cA: false }), true),
    extension(id.keyUsage, usage(signsHandshakes), true),
    extension(id.extendedKeyUsage, new ExtKeyUsage({ keyPurposes: [id.serverAuth] })),
    extension(id.subjectKeyIdentifier, new OctetString({ valueHex: keyIdentifier(certificate) })),
    extension(id.authorityKeyIdentifier, keyOfIssuer),
    extension(id.subjectAltName, new GeneralNames({ names: alternatives })),
  ];
  return signed(certificate, keys, signingKey);
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ecdsaP256, true, ['sign', 'verify']);
}

type SignedCertificate = {
  readonly subject: string;
  readonly validity: Validity;
};

async function newCertificate(
  publicKey: webcrypto.CryptoKey,
  { subject, validity }: SignedCertificate,
): Promise<Certificate> {
  const certificate = new Certificate({ version: 2 });
  // The serial number must be positive, and its first byte must not be zero.
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  certificate.serialNumber = new Integer({ valueHex: arrayBufferOf(serial) });
  setName(certificate, 'subject', subject);
  certificate.notBefore = timeOf(validity.from);
  certificate.notAfter = timeOf(validity.to);
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  return certificate;
}

async function signed(
  certificate: Certificate,
  keys: webcrypto.CryptoKeyPair,
  signingKey: webcrypto.CryptoKey,
): Promise<Issued> {
  await certificate.sign(signingKey, 'SHA-256');
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: pemOf('CERTIFICATE', certificate.toSchema(true).toBER()),
    key: pemOf('PRIVATE KEY', key),
  };
}

/** Sets the common name, with at most 64 characters (RFC 5280, appendix A.1). Clients verify the alternative names. */
function setName(certificate: Certificate, of: 'subject' | 'issuer', name: string): void {
  const value = new Utf8String({ value: name.slice(0, 64) });
  certificate[of].typesAndValues.push(new AttributeTypeAndValue({ type: id.commonName, value }));
}

/** Years from 2050 on need GeneralizedTime instead of UTCTime (RFC 5280, 4.1.2.5). */
function timeOf(at: number): Time {
  const value = new Date(at);
  return new Time({ type: value.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime, value });
}

type Encoded = { toSchema(): { toBER(): ArrayBuffer } } | { toBER(): ArrayBuffer };

function extension(extnID: string, value: Encoded, critical = false): Extension {
  const extnValue = 'toSchema' in value ? value.toSchema().toBER() : value.toBER();
  return new Extension({ extnID, critical, extnValue });
}

function usage(bits: number): BitString {
  const unusedBits = Math.clz32(bits & -bits) === 31 ? 0 : 31 - Math.clz32(bits & -bits);
  return new BitString({ valueHex: new Uint8Array([bits]).buffer, unusedBits });
}

/**
 * Returns the SHA-1 of the public key (RFC 5280, 4.2.1.2, method 1). The hash is an identifier and protects nothing.
 */
function keyIdentifier({ subjectPublicKeyInfo }: Certificate): ArrayBuffer {
  const key = subjectPublicKeyInfo.subjectPublicKey.valueBlock.valueHexView;
  return arrayBufferOf(createHash('sha1').update(key).digest());
}

/** Returns the four or sixteen bytes of an IP address. An IPv6 address must be in its shortest form. */
function bytesOf(address: string): ArrayBuffer {
  if (isIP(address) === 4) return new Uint8Array(address.split('.').map(Number)).buffer;
  const [before = '', after] = address.split('::');
  const groups = (text: string | undefined): readonly string[] =>
    (text ?? '').split(':').filter((group) => group !== '');
  const [first, last] = [groups(before), groups(after)];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  const values = [...first, ...zeros, ...last].map((group) => parseInt(group, 16));
  return new Uint8Array(values.flatMap((value) => [value >> 8, value & 0xff])).buffer;
}

function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function derOf(pem: string): ArrayBuffer {
  return arrayBufferOf(Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/gu, ''), 'base64'));
}

function pemOf(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/gu) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
