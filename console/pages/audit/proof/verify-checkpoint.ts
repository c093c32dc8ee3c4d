import type { RemoteClient } from 'ledgerplane/client';

import { now } from '../../../server/browser-clock.ts';
import { exactBase64, hasWebCrypto, type Bytes } from './bytes.ts';
import { verdictOf, type Check } from './check.ts';
import { isConsistent } from './merkle.ts';
import { remember, remembered, type Remembered } from './remembered.ts';
import {
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  trustedKeys,
  verifyNote,
  type Checkpoint,
  type ListedKey,
  type Note,
} from './signed-note.ts';

/** A checkpoint of the server, and the result of its verification in this browser. */
export type VerifiedCheckpoint = {
  /** The signed note, as the server sent it. */
  readonly note: string;
  readonly checkpoint: Checkpoint;
  /** The ids of the keys that signed the note. */
  readonly signedBy: readonly string[];
  readonly keys: readonly ListedKey[];
  readonly checks: readonly Check[];
  /** The checkpoint that this browser had stored before. */
  readonly before: Remembered | undefined;
};

const tree = '/audit/tree';

/**
 * Reads the present checkpoint and verifies it: the signature, and whether the tree extends the tree that this browser
 * verified last. Stores the checkpoint if all checks pass.
 */
export async function verifyCheckpoint(client: RemoteClient, signal: AbortSignal): Promise<VerifiedCheckpoint> {
  const [text, listed] = await Promise.all([
    client.requestText(`${tree}/checkpoint`, { accept: 'text/plain', signal }),
    client.request<{ readonly items: readonly ListedKey[] }>(`${tree}/keys`, { signal }),
  ]);
  const note = parseNote(text);
  const checkpoint = parseCheckpoint(note?.text ?? '');
  if (note === undefined || checkpoint === undefined) throw new Error(`The response is not a checkpoint: ${text}`);
  const keys = listed?.items ?? [];
  const before = remembered();
  const signedBy = note.signatures.map(({ id }) => id);
  const checks = hasWebCrypto()
    ? await checksOf(client, { note, checkpoint, keys, before }, signal)
    : [{ key: 'noCrypto', state: 'unknown' } as const];
  return { note: text, checkpoint, signedBy, keys, before, checks };
}

type Given = Pick<VerifiedCheckpoint, 'checkpoint' | 'keys' | 'before'> & { readonly note: Note };

async function checksOf(
  client: RemoteClient,
  { note, checkpoint, keys, before }: Given,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const trusted = await trustedKeys(keys, before?.keys ?? []);
  const signature = await signatureCheck(note, keys, trusted);
  const checks =
    before === undefined ? [signature] : [signature, await historyCheck(client, { before, checkpoint }, signal)];
  if (verdictOf(checks) !== 'failed') remember({ checkpoint, keys: trusted, time: new Date(now()).toISOString() });
  return checks;
}

async function signatureCheck(note: Note, listed: readonly ListedKey[], trusted: readonly string[]): Promise<Check> {
  const all = await Promise.all(
    listed.map(async ({ key, verifierKey = '' }) => ({ key, verifier: await parseVerifierKey(verifierKey) })),
  );
  const verifiers = all.flatMap(({ key, verifier }) => (verifier === undefined ? [] : [{ key, verifier }]));
  const known = verifiers.filter(({ key }) => trusted.includes(key)).map(({ verifier }) => verifier);
  const verdict = await verifyNote(note, known);
  if (verdict === 'signed') return { key: 'signed', state: 'passed' };
  if (verdict === 'uncheckable') return { key: 'uncheckable', state: 'unknown' };
  if (verdict === 'forged') return { key: 'forged', state: 'failed' };
  const byOthers = await verifyNote(
    note,
    verifiers.map(({ verifier }) => verifier),
  );
  return byOthers === 'signed' ? { key: 'untrustedKey', state: 'failed' } : { key: 'unsigned', state: 'failed' };
}

type History = { readonly before: Remembered; readonly checkpoint: Checkpoint };

async function historyCheck(
  client: RemoteClient,
  { before, checkpoint }: History,
  signal: AbortSignal,
): Promise<Check> {
  const values = { size: before.checkpoint.size, time: before.time };
  if (before.checkpoint.origin !== checkpoint.origin) return { key: 'otherTree', state: 'failed', values };
  if (before.checkpoint.size > checkpoint.size) return { key: 'shrunk', state: 'failed', values };
  const query = { from: before.checkpoint.size, to: checkpoint.size };
  const answer = await client.request<Hashes>(`${tree}/consistency`, { query, signal });
  const isExtended = await isConsistent({
    oldSize: before.checkpoint.size,
    oldRoot: before.checkpoint.root,
    size: checkpoint.size,
    root: checkpoint.root,
    hashes: hashesIn(answer),
  });
  return isExtended ? { key: 'extends', state: 'passed', values } : { key: 'rewritten', state: 'failed', values };
}

export type Hashes = { readonly hashes: readonly string[] };

/** Returns the hashes of a proof. A malformed hash becomes empty bytes, with which every proof is invalid. */
export function hashesIn(answer: Hashes | undefined): readonly Bytes[] {
  return (answer?.hashes ?? []).map((hash) => exactBase64(hash) ?? new Uint8Array());
}
