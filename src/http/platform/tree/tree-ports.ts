import type { KeyChain } from '../../../audit/keys/key-chain.ts';
import type { CheckpointSigner } from '../../../audit/tree/checkpoint-signer.ts';
import { ChangedLeafError } from '../../../audit/tree/entries.ts';
import type { EventLog } from '../../../log/log.ts';
import type { AuditProgress } from '../../../read/audit-progress.ts';
import type { ObjectReader } from '../../../read/objects.ts';
import type { FoldedTree } from '../../../read/folded-tree.ts';

export type TreePorts = {
  readonly tree: FoldedTree;
  readonly audit: AuditProgress;
  readonly reader: Pick<ObjectReader, 'position' | 'isKnown' | 'snapshots'>;
  readonly log: Pick<EventLog, 'readAll' | 'readAt'>;
  /** The categories of all events that are leaves of the tree. */
  readonly categories: readonly string[];
  readonly signer: Pick<CheckpointSigner, 'origin' | 'sign'>;
  readonly keys: { chain(): Promise<KeyChain> };
};

/** A read of the log has failed, for example because the log is unavailable. */
export class UnreadLogError extends Error {
  constructor(cause: unknown) {
    super('the event log cannot be read now', { cause });
    this.name = 'UnreadLogError';
  }
}

/**
 * Returns the result of a read of the log. Rethrows a ChangedLeafError, and wraps any other error in an UnreadLogError.
 */
export async function fromLog<T>(read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    throw error instanceof ChangedLeafError ? error : new UnreadLogError(error);
  });
}
