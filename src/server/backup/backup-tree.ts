import { parseCheckpoint } from '../../audit/proof/checkpoint.ts';
import { CompactRange } from '../../audit/proof/compact-range.ts';
import { isLeafStream, leafOf } from '../../audit/proof/leaf-entry.ts';
import { parseNote } from '../../audit/proof/signed-note.ts';
import type { RecordedEvent } from '../../log/log.ts';
import type { BackupTree } from './manifest.ts';

type SignedSize = {
  readonly size: number;
  readonly root: string;
};

/** Returns the tree of a checkpoint note; undefined for other texts. The signature is not checked. */
export function signedTree(note: string): SignedSize | undefined {
  const text = parseNote(note)?.text;
  const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
  return checkpoint && { size: checkpoint.size, root: Buffer.from(checkpoint.root).toString('hex') };
}

/** Converts a root from hexadecimal digits to base64, as in checkpoints. */
export function shownRoot(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/** The Merkle tree over the leaves in the records of a log (docs/operating.md). */
export class RecordTree {
  readonly #range: CompactRange;

  /** `before` is the tree of all records before the first added record. */
  constructor(before?: BackupTree) {
    const hashes = before?.nodes.map((node) => Buffer.from(node, 'hex')) ?? [];
    this.#range = CompactRange.of(0, before?.size ?? 0, hashes);
  }

  add(event: RecordedEvent): void {
    if (isLeafStream(event.stream)) this.#range.append(leafOf(event));
  }

  get size(): number {
    return this.#range.until;
  }

  summary(): BackupTree {
    return {
      size: this.#range.until,
      root: Buffer.from(this.#range.root()).toString('hex'),
      nodes: this.#range.hashes.map((hash) => Buffer.from(hash).toString('hex')),
    };
  }
}
