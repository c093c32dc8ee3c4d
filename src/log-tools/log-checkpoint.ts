import { parseCheckpoint, type Checkpoint } from '../audit/proof/checkpoint.ts';
import { parseNote, verifyNote, type VerifierKey } from '../audit/proof/signed-note.ts';
import type { TreeSize } from '../command/event.ts';

/** A checkpoint from a file. `isVerified` is true if a given key has signed the checkpoint. */
export type KeptCheckpoint = Checkpoint & { readonly isVerified: boolean };

/** Thrown if a log does not begin with the leaves of a checkpoint. */
export class LogDiffersError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = 'LogDiffersError';
  }
}

/**
 * Returns the checkpoint of a note, or the reason of a refusal as the end of a sentence about the file. Without keys,
 * the signature is not checked.
 */
export function keptCheckpoint(text: string, keys: readonly VerifierKey[]): KeptCheckpoint | string {
  const note = parseNote(text);
  const checkpoint = note === undefined ? undefined : parseCheckpoint(note.text);
  if (note === undefined || checkpoint === undefined) return 'is not a signed checkpoint';
  if (keys.length === 0) return { ...checkpoint, isVerified: false };
  const verdict = verifyNote(note, keys);
  if (verdict === 'signed') return { ...checkpoint, isVerified: true };
  return verdict === 'forged' ? 'has an invalid signature' : 'is not signed by a given key';
}

type LogTree = {
  readonly there: TreeSize | undefined;
  readonly size: number;
};

/**
 * Verifies that a log begins with the leaves of a checkpoint, and describes the result. `log.there` is the tree of the
 * log at the size of the checkpoint; undefined for a shorter log. Origins are not compared, because a new epoch begins
 * a new tree with the same first leaves.
 *
 * @throws LogDiffersError if the log has fewer leaves or other leaves.
 */
export function agreement({ origin, size, root, isVerified }: KeptCheckpoint, log: LogTree): string {
  if (log.there === undefined)
    throw new LogDiffersError(
      `the log has only ${String(log.size)} leaves, but the checkpoint has ${String(size)}: signed events are lost, ` +
        'or the checkpoint is of another log',
    );
  const signed = Buffer.from(root).toString('base64');
  if (log.there.root !== signed)
    throw new LogDiffersError(
      `the first ${String(size)} leaves of the log have the root ${log.there.root}, but the checkpoint has the root ` +
        `${signed}: signed events were changed, or the checkpoint is of another log`,
    );
  const signature = isVerified ? 'signed by a given key' : 'not checked against a key: use --key';
  return `of ${origin}, ${signature}: ${String(size)} leaves, all in this log`;
}
