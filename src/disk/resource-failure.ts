import { showByteCount } from '../base/byte-count.ts';
import { StartError } from '../base/start-error.ts';
import { descriptorsMin, diskStartBytesMin } from '../limits/disk.ts';

/** A full disk or a lack of file descriptors, which only the operator can fix. */
export class ResourceError extends StartError {
  constructor(message: string, cause?: unknown) {
    super(message, { exitCode: 1, cause });
  }
}

/** The error codes of a full disk: Node's names, and LMDB's numbers. */
const fullDisk: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 28, 122]);
const noDescriptor: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 23, 24]);

/**
 * Returns an error with advice for the operator if `error`, or one of its causes, means a full disk or a lack of file
 * descriptors. Returns undefined for other errors.
 */
export function resourceFailure(error: unknown): ResourceError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof ResourceError) return error;
  if (meansFullDisk(error)) {
    const advice = `free at least ${showByteCount(diskStartBytesMin)} on the disk of DATA_DIR and start again`;
    return new ResourceError(`the disk is full: ${error.message}; ${advice}`, error);
  }
  if (noDescriptor.has(codeOf(error)) || /too many open files/iu.test(error.message))
    return descriptorError(error.message, error);
  return resourceFailure(error.cause);
}

/** Returns whether the error, or one of its causes, means a full disk. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && (meansFullDisk(error) || isDiskFull(error.cause));
}

function meansFullDisk(error: Error): boolean {
  return fullDisk.has(codeOf(error)) || /no space left on device/iu.test(error.message);
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

export function descriptorError(what: string, cause?: unknown): ResourceError {
  const advice =
    `raise the limit of open files of the process to ${String(descriptorsMin)} ` + 'or more (ulimit -n, LimitNOFILE=)';
  return new ResourceError(`the process cannot open enough files: ${what}; ${advice}`, cause);
}
