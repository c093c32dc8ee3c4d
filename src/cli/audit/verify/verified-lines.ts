import type { ExportProblem, ExportVerifier } from '../../../audit/proof/export-verifier.ts';
import { hashBytes } from '../../../audit/proof/merkle.ts';
import type { LeafThreads } from './leaf-threads.ts';
import type { BlockLeaves } from './leaf-worker.ts';

/**
 * The number of blocks that are sent to each thread before the results are awaited. While a thread hashes a block, its
 * next block is thus already in its queue.
 */
const blocksPerThread = 2;

/**
 * Adds all lines to a verifier, and returns the first problem. `threads` parse and hash the lines in parallel. The
 * problem is the same as with calls of `ExportVerifier.add` for each line in order.
 *
 * @throws Error of `blocks` or of a thread, unless a line before the error has a problem.
 */
export async function addLines(
  verifier: ExportVerifier,
  blocks: AsyncIterable<readonly Uint8Array[]>,
  threads: Pick<LeafThreads, 'count' | 'leavesOf'>,
): Promise<ExportProblem | undefined> {
  const open: OpenBlock[] = [];
  let isFirst = true;
  let broken: { readonly error: unknown } | undefined;
  try {
    for await (const lines of blocks) {
      // This thread verifies the first block, because a file of one block is verified faster than a thread starts.
      open.push({ lines, leaves: isFirst ? undefined : threads.leavesOf(lines) });
      isFirst = false;
      const problem = await addBlocks(verifier, open, threads.count * blocksPerThread);
      if (problem !== undefined) return problem;
    }
  } catch (error) {
    broken = { error };
  }
  const problem = await addBlocks(verifier, open, 0);
  if (problem === undefined && broken !== undefined) throw broken.error;
  return problem;
}

type OpenBlock = { readonly lines: readonly Uint8Array[]; readonly leaves: Promise<BlockLeaves> | undefined };

/** Adds the oldest blocks to the verifier until only `left` blocks remain open. */
async function addBlocks(
  verifier: ExportVerifier,
  open: OpenBlock[],
  left: number,
): Promise<ExportProblem | undefined> {
  for (let [block] = open; block !== undefined && open.length > left; [block] = open) {
    // If the thread of a block fails, the block stays in `open`, so that no later block is added.
    const leaves = await block.leaves;
    open.shift();
    const problem = addBlock(verifier, block.lines, leaves);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function addBlock(
  verifier: ExportVerifier,
  lines: readonly Uint8Array[],
  leaves: BlockLeaves | undefined,
): ExportProblem | undefined {
  for (const [at, line] of lines.entries()) {
    const [index = -1, position = 0n] = [leaves?.indexes[at], leaves?.positions[at]];
    const leaf = leaves?.hashes.subarray(at * hashBytes, (at + 1) * hashBytes);
    if (index !== -1 && leaf !== undefined && verifier.addLeaf(index, position, leaf)) continue;
    const problem = verifier.add(line);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
