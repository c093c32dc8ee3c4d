import { generateKeyPairSync, sign } from 'node:crypto';

/** Makes a self-signed certificate for `localhost`; a new key each time, so that no key is stored in the repository. */
export function selfSigned(): { readonly key: string; readonly certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(element(0x31, sequence(oid('550403'), element(0x0c, Buffer.from('localhost')))));
  const constraints = sequence(
    oid('551d13'),
    element(0x01, Buffer.from([0xff])),
    element(0x04, sequence(element(0x01, Buffer.from([0xff])))),
  );
  const names = sequence(
    oid('551d11'),
    element(0x04, sequence(element(0x82, Buffer.from('localhost')), element(0x87, Buffer.from([127, 0, 0, 1])))),
  );
  const content = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(constraints, names)),
  );
  const signature = sign('sha256', content, privateKey);
  const whole = sequence(content, algorithm, element(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/gu) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** Encodes an element in DER: tag, length and content. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...members: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(members));
}

function oid(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, 'hex'));
}

function time(text: string): Buffer {
  return element(0x18, Buffer.from(text));
}
