import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import { ExportVerifier, type ExportProblem, type VerifiedExport } from '../../../audit/proof/export-verifier.ts';
import type { VerifierKey } from '../../../audit/proof/signed-note.ts';
import type { CommandContext } from '../../command-context.ts';
import { commandError, usageError, type CommandFailure } from '../../failure.ts';
import { counted, printable } from '../../text-table.ts';
import { blocksOfFile, BrokenFileError } from '../export-file.ts';
import { verifierKeys } from '../verifier-keys.ts';
import { LeafThreads } from './leaf-threads.ts';
import { addLines } from './verified-lines.ts';

export type VerifyOptions = { readonly key?: readonly string[] };

/**
 * Verifies an export, using only the file and the public keys. A damaged file is a command error (exit code 1), because
 * somebody may have changed the file. An unreadable file and keys of another server are usage errors (exit code 2).
 */
export async function verifyExport(file: string, options: VerifyOptions, context: CommandContext): Promise<void> {
  const { output, folder } = context;
  const keys = verifierKeys(options.key ?? [], folder);
  const result = await verified(resolve(folder, file), keys).catch((error: unknown) => {
    throw unreadable(error, file);
  });
  if (!result.ok) throw failureOf(result, file);
  output.write(summaryOf(result));
}

/**
 * The maximum number of threads in addition to this thread, which reads the file and computes the nodes of the tree.
 * Further threads would only wait for this thread.
 */
const threadsMax = 2;

async function verified(path: string, keys: readonly VerifierKey[]): Promise<VerifiedExport | ExportProblem> {
  const verifier = new ExportVerifier(keys);
  const cores = availableParallelism();
  const threads = new LeafThreads(cores === 1 ? 0 : Math.min(threadsMax, cores));
  try {
    const problem = await addLines(verifier, blocksOfFile(path), threads);
    if (problem !== undefined) return problem;
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    const place = error.isPacked ? await placeOfDamage(path, keys) : verifier.place();
    const detail = `${error.message}${place === undefined ? '' : `, ${place}`}`;
    return { ok: false, reason: 'changed', detail };
  } finally {
    await threads.close();
  }
  return verifier.finish();
}

/**
 * Returns the place of damage in a gzipped file. If a piece of the file has damaged bytes, zlib drops everything that
 * it unpacked from this piece. The file is therefore read again in small pieces.
 */
async function placeOfDamage(path: string, keys: readonly VerifierKey[]): Promise<string | undefined> {
  const verifier = new ExportVerifier(keys);
  const pieceBytes = Math.max(pieceBytesMin, Math.ceil(statSync(path).size / piecesMax));
  const threads = new LeafThreads(0);
  await addLines(verifier, blocksOfFile(path, pieceBytes), threads).catch((error: unknown) => {
    if (!(error instanceof BrokenFileError)) throw error;
  });
  return verifier.place();
}

/**
 * The minimum size and the maximum number of the pieces in which `placeOfDamage` reads a file. Each piece costs a call
 * of zlib.
 */
const pieceBytesMin = 16;
const piecesMax = 16_384;

function failureOf({ reason, detail }: ExportProblem, file: string): CommandFailure {
  const name = printable(file);
  return reason === 'changed'
    ? commandError(`${name} is not verified: ${detail}`)
    : usageError(`${name} cannot be verified with these keys: ${detail}`);
}

function unreadable(error: unknown, file: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? usageError(`${printable(file)} cannot be read (${code})`) : error;
}

function summaryOf({ header, checkpoint, agreeing, positions }: VerifiedExport): string {
  const { from, until, log, epoch, origin } = header;
  const [first, last] = positions ?? [];
  const places =
    until - from === 1
      ? `leaf ${String(from)}, position ${String(first)} (according to the file)`
      : `leaves ${String(from)} to ${String(until - 1)}, ` +
        `positions ${String(first)} to ${String(last)} (according to the file)`;
  const range = first === undefined ? 'no leaves' : places;
  return [
    `verified: ${counted(until - from, 'event')}, ${range}`,
    `log ${printable(log)}, epoch ${String(epoch)} (according to the file), tree ${printable(origin)}`,
    `the signed checkpoint of ${counted(checkpoint.size, 'leaf')} has the root ${base64(checkpoint.root)}`,
    agreeing === 1
      ? '1 checkpoint or tree head agrees with the events'
      : `${counted(agreeing, 'checkpoint')} and tree heads agree with the events`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function base64(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64');
}
