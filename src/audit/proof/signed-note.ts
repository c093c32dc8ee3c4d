import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

import { sha256 } from './merkle.ts';

/**
 * Signed notes (https://c2sp.org/signed-note) with Ed25519: the lines of the text, an empty line, and one line for each
 * signature, `— <key name> <base64 of the key id and the signature>`.
 */

/** A public key. As text, `<name>+<id>+<base64 of the algorithm and the key>`. */
export type VerifierKey = {
  readonly name: string;
  /** The key id: 8 hexadecimal digits of the hash of the name, the algorithm and the key. */
  readonly id: string;
  readonly key: KeyObject;
};

export type NoteSigner = { readonly name: string; readonly id: string; readonly key: KeyObject };

export type NoteSignature = {
  readonly name: string;
  readonly id: string;
  readonly signature: Uint8Array;
};

export type Note = {
  /** The text, with the line feed at its end. */
  readonly text: string;
  /** All signatures, including signatures with other algorithms. */
  readonly signatures: readonly NoteSignature[];
};

const algorithm = 1;
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const keyBytes = 32;

/** The maximum length of a note in UTF-16 units. A checkpoint with the signatures of many witnesses fits. */
const noteLengthMax = 65_536;
const signaturesMax = 100;

/** `seed` has the 32 bytes of an Ed25519 private key. */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' });
  return { name: checkedName(name), id: keyId(name, publicBytes(key)), key };
}

export function verifierKeyOf({ name, id, key }: NoteSigner): VerifierKey {
  return { name, id, key: createPublicKey(key) };
}

export function verifierKeyText({ name, id, key }: VerifierKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.from([algorithm]), publicBytes(key)]).toString('base64')}`;
}

/** `key` has the 32 bytes of an Ed25519 public key. */
export function verifierKey(name: string, key: Uint8Array): VerifierKey {
  const der = Buffer.concat([publicPrefix, key]);
  return { name, id: keyId(name, key), key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

/** Returns undefined for a text that is not an Ed25519 verifier key, and for a wrong key id. */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? [];
  if (name === undefined || id === undefined || encoded === undefined) return undefined;
  const bytes = exactBase64(encoded);
  if (bytes?.length !== 1 + keyBytes || bytes[0] !== algorithm) return undefined;
  if (keyId(name, bytes.subarray(1)) !== id) return undefined;
  return verifierKey(name, bytes.subarray(1));
}

/** `text` must end with a line feed. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  if (!isNoteText(text)) throw new RangeError('the text of a note must consist of lines without control characters');
  const lines = signers.map(({ name, id, key }) => {
    const signature = sign(undefined, Buffer.from(text), key);
    return `— ${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** Returns undefined for a text that is not a note with a signature, and for a note that exceeds a limit. */
export function parseNote(note: string): Note | undefined {
  if (note.length > noteLengthMax) return undefined;
  // The text may contain empty lines, so the last empty line of the note ends the text.
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  const lines = note.slice(end + 2).split('\n');
  if (end === -1 || !isNoteText(text) || lines.pop() !== '' || lines.length === 0) return undefined;
  if (lines.length > signaturesMax) return undefined;
  const signatures = lines.map(parseSignature);
  return signatures.every((signature) => signature !== undefined) ? { text, signatures } : undefined;
}

function parseSignature(line: string): NoteSignature | undefined {
  const [, name, encoded] = /^— ([^\s+]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
  const bytes = encoded === undefined ? undefined : exactBase64(encoded);
  if (name === undefined || bytes === undefined || bytes.length <= keyIdBytes) return undefined;
  return { name, id: bytes.toString('hex', 0, keyIdBytes), signature: bytes.subarray(keyIdBytes) };
}

const keyIdBytes = 4;

/**
 * `unsigned`: no signature names one of the keys. `forged`: a signature that names one of the keys is wrong. Other
 * signatures have no effect.
 */
export type NoteVerdict = 'signed' | 'unsigned' | 'forged';

export function verifyNote({ text, signatures }: Note, keys: readonly VerifierKey[]): NoteVerdict {
  let verdict: NoteVerdict = 'unsigned';
  for (const { name, id, signature } of signatures) {
    const key = keys.find((known) => known.name === name && known.id === id);
    if (key === undefined) continue;
    if (!verify(undefined, Buffer.from(text), key.key, signature)) return 'forged';
    verdict = 'signed';
  }
  return verdict;
}

/**
 * Decodes base64 in the exact form that an encoder produces; returns undefined for any other text. Most decoders accept
 * several texts for the same bytes.
 */
export function exactBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function isNoteText(text: string): boolean {
  return text.endsWith('\n') && !/[^\P{Cc}\n]|\p{Cs}/u.test(text);
}

function checkedName(name: string): string {
  if (!/^[^\s+\p{Cs}]+$/u.test(name))
    throw new RangeError(`the name of a key must not contain spaces or plus signs, got ${name}`);
  return name;
}

function keyId(name: string, publicKey: Uint8Array): string {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([algorithm]), publicKey])).toString('hex', 0, 4);
}

function publicBytes(key: KeyObject): Buffer {
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url');
}
