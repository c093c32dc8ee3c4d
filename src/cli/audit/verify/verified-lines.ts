import type { ExportProblem, ExportVerifier } from '../../../audit/proof/export-verifier.ts';
import { hashBytes } from '../../../audit/proof/merkle.ts';
import type { LeafThreads } from './leaf-threads.ts';
import type { BlockLeaves } from './leaf-worker.ts';

/** The number of blocks that each thread has or waits for, so that no thread waits for the reader. */
const blocksPerThread = 2;

/**
 * Adds all lines to a verifier, and returns the first problem. `threads` parse and hash the lines beside this thread.
 * Each problem is the one that `ExportVerifier.add` gives for the lines in their order: a line that is not simply the
 * next event is added here.
 *
 * @throws Error that `blocks` throws, if the lines before it have no problem.
 */
export async function addLines(
  verifier: ExportVerifier,
  blocks: AsyncIterable<readonly Uint8Array[]>,
  threads: LeafThreads,
): Promise<ExportProblem | undefined> {
  const open: OpenBlock[] = [];
  let isFirst = true;
  let broken: { readonly error: unknown } | undefined;
  try {
    for await (const lines of blocks) {
      // A file of one block is verified before a thread has started.
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

/** Adds the oldest blocks until `left` of them are left. */
async function addBlocks(
  verifier: ExportVerifier,
  open: OpenBlock[],
  left: number,
): Promise<ExportProblem | undefined> {
  while (open.length > left) {
    const block = open.shift();
    const problem = block === undefined ? undefined : addBlock(verifier, block.lines, await block.leaves);
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
