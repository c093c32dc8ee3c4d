import { exactBase64, hex, joinBytes, sha256, utf8, type Bytes } from './bytes.ts';

/** Signed notes (https://c2sp.org/signed-note) with Ed25519, and the checkpoints in them. */

/** A public key. Its text is `<name>+<id>+<base64 of the algorithm and the key>`. */
export type VerifierKey = {
  readonly name: string;
  /** 8 hexadecimal digits. */
  readonly id: string;
  readonly key: Bytes;
};

export type Note = {
  /** The text with the line feed at its end. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly id: string; readonly signature: Bytes }[];
};

/** The size and root of a tree (https://c2sp.org/tlog-checkpoint). */
export type Checkpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Bytes;
};

/**
 * `unsigned`: no signature is by a known key. `forged`: a signature claims to be by a known key and is wrong.
 * `uncheckable`: this browser cannot verify Ed25519.
 */
export type NoteVerdict = 'signed' | 'unsigned' | 'forged' | 'uncheckable';

const ed25519 = 1;
const keyBytes = 32;
const idBytes = 4;
const noteLengthMax = 65_536;

/** Returns undefined for a text that is not a note with at least one signature. */
export function parseNote(note: string): Note | undefined {
  const end = note.lastIndexOf('\n\n');
  if (end === -1 || note.length > noteLengthMax || !note.endsWith('\n')) return undefined;
  const signatures = note
    .slice(end + 2, -1)
    .split('\n')
    .map(parseSignature);
  const known = signatures.filter((signature) => signature !== undefined);
  return known.length === signatures.length ? { text: note.slice(0, end + 1), signatures: known } : undefined;
}

function parseSignature(line: string): Note['signatures'][number] | undefined {
  const [, name = '', encoded = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
  const bytes = exactBase64(encoded);
  if (bytes === undefined || bytes.length <= idBytes) return undefined;
  return { name, id: hex(bytes.subarray(0, idBytes)), signature: bytes.slice(idBytes) };
}

/** Returns undefined for a text that is not a checkpoint of exactly three lines. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [, origin, size, rootText] = /^([^\s+]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n$/u.exec(text) ?? [];
  const root = exactBase64(rootText ?? '');
  if (origin === undefined || !Number.isSafeInteger(Number(size)) || root?.length !== keyBytes) return undefined;
  return { origin, size: Number(size), root };
}

/** Returns undefined for a text that is not an Ed25519 key, or if the id does not match the name and the key. */
export async function parseVerifierKey(text: string): Promise<VerifierKey | undefined> {
  const [, name = '', id = '', encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? [];
  const bytes = exactBase64(encoded);
  if (bytes?.length !== 1 + keyBytes || bytes[0] !== ed25519) return undefined;
  const key = bytes.slice(1);
  return (await keyId(name, key)) === id ? { name, id, key } : undefined;
}

/** Returns a key from its 32 bytes in base64; undefined for another text. */
export async function verifierKeyOf(name: string, encoded: string): Promise<VerifierKey | undefined> {
  const key = exactBase64(encoded);
  return key?.length === keyBytes ? { name, id: await keyId(name, key), key } : undefined;
}

async function keyId(name: string, key: Bytes): Promise<string> {
  const hash = await sha256(joinBytes(utf8(`${name}\n`), new Uint8Array([ed25519]), key));
  return hex(hash.subarray(0, idBytes));
}

/** Verifies the signatures by known keys. Signatures by other keys have no effect. */
export async function verifyNote({ text, signatures }: Note, keys: readonly VerifierKey[]): Promise<NoteVerdict> {
  let verdict: NoteVerdict = 'unsigned';
  for (const { name, id, signature } of signatures) {
    const known = keys.find((key) => key.name === name && key.id === id);
    if (known === undefined) continue;
    const isValid = await isSignature(known.key, signature, utf8(text));
    if (isValid === undefined) return 'uncheckable';
    if (!isValid) return 'forged';
    verdict = 'signed';
  }
  return verdict;
}

/** Returns undefined if this browser does not support Ed25519. */
async function isSignature(key: Bytes, signature: Bytes, text: Bytes): Promise<boolean | undefined> {
  try {
    const imported = await crypto.subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
    return await crypto.subtle.verify({ name: 'Ed25519' }, imported, signature, text);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotSupportedError') return undefined;
    throw error;
  }
}

/** A public key in the server's list, with the note by which another key vouches for this key. */
export type ListedKey = {
  readonly verifierKey?: string;
  /**
   * The 32 bytes of the key in base64. `signedBy`: the key that signed `note`; the key itself at the beginning of a
   * chain.
   */
  readonly key: string;
  readonly signedBy: string;
  readonly note: string;
  readonly time: string;
};

/**
 * Returns the listed keys that this browser trusts: the keys in `remembered`, and the keys that a trusted key has
 * signed. A browser without remembered keys trusts all listed keys, like a witness in its first run.
 */
export async function trustedKeys(
  listed: readonly ListedKey[],
  remembered: readonly string[],
): Promise<readonly string[]> {
  if (remembered.length === 0) return listed.map(({ key }) => key);
  const trusted = new Set(remembered);
  // The list is in the order of the log, so each key follows the key that signed it.
  for (const { key, signedBy, note } of listed)
    if (trusted.has(signedBy) && (await isVouched(key, signedBy, note))) trusted.add(key);
  return listed.map(({ key }) => key).filter((key) => trusted.has(key));
}

async function isVouched(key: string, signedBy: string, text: string): Promise<boolean> {
  const note = parseNote(text);
  const [name, statement, ...more] = note?.text.split('\n') ?? [];
  if (note === undefined || name === undefined || statement !== `ed25519:${key}` || more.join('') !== '') return false;
  const signer = await verifierKeyOf(name, signedBy);
  return signer !== undefined && (await verifyNote(note, [signer])) === 'signed';
}
