import { CompactRange } from '../audit/proof/compact-range.ts';
import { isLeafStream, leafOf } from '../audit/proof/leaf-entry.ts';
import type { TreeSize } from '../command/event.ts';
import { logStart, type EventLog, type RecordedEvent } from '../log/log.ts';

/** The Merkle tree of a log (docs/spec/tree.md). Events are added in the order of the log. */
export class LogTree {
  readonly #range = new CompactRange();

  add(event: RecordedEvent): void {
    if (isLeafStream(event.stream)) this.#range.append(leafOf(event));
  }

  get size(): number {
    return this.#range.until;
  }

  now(): TreeSize {
    return { size: this.#range.until, root: Buffer.from(this.#range.root()).toString('base64') };
  }
}

/** Returns the tree over a log. Rejects with the signal's reason after an abort. */
export async function treeOf(
  log: Pick<EventLog, 'readAll'>,
  { signal }: { readonly signal: AbortSignal },
): Promise<TreeSize> {
  const tree = new LogTree();
  for await (const batch of log.readAll({ after: logStart, signal })) {
    for (const event of batch) tree.add(event);
  }
  // An aborted iteration ends without an error.
  signal.throwIfAborted();
  return tree.now();
}
