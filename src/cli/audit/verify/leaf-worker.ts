import { parentPort } from 'node:worker_threads';

import { parseExportLine } from '../../../audit/proof/export-lines.ts';
import { isTreeHead } from '../../../audit/proof/export-verifier.ts';
import { leafOf } from '../../../audit/proof/leaf-entry.ts';
import { hashBytes } from '../../../audit/proof/merkle.ts';

/** Lines of an export, one after another without line feeds. */
export type LineBlock = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For each line, the offset in `bytes` at which the line ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
};

/** The leaves of a block. Each array has one element for each line; an element of `hashes` is `hashBytes` long. */
export type BlockLeaves = {
  /**
   * The index of the leaf; -1 for a line that the verifier must parse. Such a line is not an event, is a tree head, or
   * has a position above `positionMax`.
   */
  readonly indexes: Float64Array<ArrayBuffer>;
  readonly positions: BigUint64Array<ArrayBuffer>;
  readonly hashes: Uint8Array<ArrayBuffer>;
};

export const leafWorkerUrl: string = import.meta.url;

parentPort?.on('message', (block: LineBlock) => {
  const leaves = leavesOf(block);
  parentPort?.postMessage(leaves, [leaves.indexes.buffer, leaves.positions.buffer, leaves.hashes.buffer]);
});

const positionMax = 2n ** 64n - 1n;

function leavesOf({ bytes, ends }: LineBlock): BlockLeaves {
  const count = ends.length;
  const indexes = new Float64Array(count).fill(-1);
  const positions = new BigUint64Array(count);
  const hashes = new Uint8Array(count * hashBytes);
  let from = 0;
  for (const [at, end] of ends.entries()) {
    const parsed = parseExportLine(bytes.subarray(from, end));
    from = end;
    if (!parsed.ok || parsed.record.kind !== 'Event') continue;
    const { record } = parsed;
    if (isTreeHead(record) || record.position > positionMax) continue;
    indexes[at] = record.index;
    positions[at] = record.position;
    hashes.set(leafOf(record), at * hashBytes);
  }
  return { indexes, positions, hashes };
}
