import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'tap';

import { decodeConfig } from '../../src/config/config.ts';
import { tlsFileBytesMax } from '../../src/limits/tls.ts';
import { selfSigned } from '../support/server/self-signed.ts';

const { certificate, key } = selfSigned();
const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;
const legacy = generateKeyPairSync('rsa', {
  modulusLength: 1_024,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'secret' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

const files = {
  'cert.pem': certificate,
  'key.pem': key,
  'other.pem': selfSigned().key,
  'encrypted.pem': encrypted,
  'legacy.pem': legacy,
  'text.pem': 'a text',
  'empty.pem': '',
  'broken-cert.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  'broken-key.pem': '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
  'long.pem': certificate.padEnd(tlsFileBytesMax, '\n'),
  'too-long.pem': certificate.padEnd(tlsFileBytesMax + 1, '\n'),
  folder: {},
};

test('files that TLS can use are taken, relative to the working directory', async (t) => {
  const folder = t.testdir(files);
  for (const TLS_CERT of ['cert.pem', 'long.pem']) {
    const decoded = decodeConfig({ TLS: 'files', TLS_CERT, TLS_KEY: 'key.pem' }, folder);
    if (!decoded.ok) throw new Error(decoded.mistakes.join('; '));
    const wanted = { certificate: join(folder, TLS_CERT), key: join(folder, 'key.pem') };
    t.strictSame(decoded.config.tls, { kind: 'files', files: wanted });
  }
});

test('files that TLS cannot use are mistakes, all at once and without their contents', async (t) => {
  const folder = t.testdir(files);
  const named = (name: string, file: string): string => `${name} names ${JSON.stringify(join(folder, file))}, which `;
  const cert = 'TLS_CERT';
  const wrong: readonly (readonly [TLS_CERT: string, TLS_KEY: string, mistakes: readonly string[]])[] = [
    ['no.pem', 'none.pem', [`${named(cert, 'no.pem')}does not exist`, `${named('TLS_KEY', 'none.pem')}does not exist`]],
    ['folder', 'key.pem', [`${named(cert, 'folder')}is not a file`]],
    [
      'text.pem',
      'empty.pem',
      [
        `${named(cert, 'text.pem')}has no certificate in PEM format`,
        `${named('TLS_KEY', 'empty.pem')}has no private key in PEM format`,
      ],
    ],
    [
      'key.pem',
      'cert.pem',
      [
        `${named(cert, 'key.pem')}has no certificate in PEM format`,
        `${named('TLS_KEY', 'cert.pem')}has no private key in PEM format`,
      ],
    ],
    [
      'broken-cert.pem',
      'broken-key.pem',
      [
        `${named(cert, 'broken-cert.pem')}has a certificate that cannot be read`,
        `${named('TLS_KEY', 'broken-key.pem')}has a private key that cannot be read`,
      ],
    ],
    ['too-long.pem', 'key.pem', [`${named(cert, 'too-long.pem')}is longer than 1048576 bytes`]],
    [
      'cert.pem',
      'encrypted.pem',
      [`${named('TLS_KEY', 'encrypted.pem')}has an encrypted key: decrypt the key, and restrict the mode of the file`],
    ],
    [
      'cert.pem',
      'legacy.pem',
      [`${named('TLS_KEY', 'legacy.pem')}has an encrypted key: decrypt the key, and restrict the mode of the file`],
    ],
    [
      'cert.pem',
      'other.pem',
      ['TLS_CERT and TLS_KEY do not match: the first certificate in TLS_CERT is for another key'],
    ],
  ];
  for (const [TLS_CERT, TLS_KEY, mistakes] of wrong) {
    const decoded = decodeConfig({ TLS: 'files', TLS_CERT, TLS_KEY, PORT: 'x' }, folder);
    t.strictSame(
      decoded.ok ? [] : decoded.mistakes.filter((mistake) => !mistake.startsWith('PORT')),
      mistakes,
      `${TLS_CERT} ${TLS_KEY}`,
    );
    t.equal(decoded.ok ? 0 : decoded.mistakes.length, mistakes.length + 1, 'beside the other mistakes');
  }
});
