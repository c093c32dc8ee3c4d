import type { Clock } from '../../base/clock.ts';
import type { RejectionReason } from '../../command/rejection.ts';
import { platformContext } from '../../command/platform-context.ts';
import type { PlatformSubject } from '../../command/subject.ts';
import type { Execute } from '../../write/execute.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';

export type UseRecorderDependencies = {
  readonly execute: Execute;
  readonly reader: Pick<ObjectReader, 'get'>;
  /** PersonalAccessToken or Session. */
  readonly type: ResourceType;
  /** The part of the platform that is recorded as the author of the write. */
  readonly part: string;
  /** The minimum interval between two recorded uses, in milliseconds. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown) => void;
};

/**
 * Creates a function that records the last use of a token or session in `status.lastUsedAt` of its object. Callers do
 * not await the function, and failures are only reported. Within the interval after the last recorded use, nothing is
 * written.
 */
export function createUseRecorder({
  execute,
  reader,
  type,
  part,
  intervalMs,
  clock,
  uuid,
  onError,
}: UseRecorderDependencies): (name: string) => void {
  const subject: PlatformSubject = { kind: 'platform', part };
  const recordUse = async (name: string): Promise<void> => {
    const stored = reader.get(type.key, name);
    if (stored === undefined || clock.now() - lastUse(stored.bytes) < intervalMs) return;
    const document = { status: { lastUsedAt: new Date(clock.now()).toISOString() } };
    const outcome = await execute(
      type,
      {
        type: 'patch',
        name,
        part: 'main',
        preconditions: {},
        patch: { kind: 'merge', document },
      },
      platformContext(subject, { verb: 'patch', requestId: uuid() }),
    );
    if (!outcome.ok && !isExpected(outcome.rejection.reason)) onError(new Error(outcome.rejection.detail));
  };
  return (name) => {
    recordUse(name).catch(onError);
  };
}

/** Returns whether the failure needs no report: the object was deleted, or the disk is nearly full. */
function isExpected(reason: RejectionReason): boolean {
  return reason === 'not-found' || reason === 'insufficient-storage';
}

/** Returns the last recorded use in epoch milliseconds; -Infinity without a recorded use. */
function lastUse(bytes: Uint8Array): number {
  const status = storedObject(bytes)['status'];
  const at =
    typeof status === 'object' && status !== null && 'lastUsedAt' in status && typeof status.lastUsedAt === 'string'
      ? Date.parse(status.lastUsedAt)
      : NaN;
  return Number.isNaN(at) ? -Infinity : at;
}
