import type { Clock } from '../../base/clock.ts';
import type { RejectionReason } from '../../command/rejection.ts';
import { platformContext } from '../../command/platform-context.ts';
import type { PlatformSubject } from '../../command/subject.ts';
import type { Execute } from '../../write/execute.ts';
import { tokenUseRecordMs } from '../../limits/access.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';

export type TokenUseDependencies = {
  readonly execute: Execute;
  readonly reader: Pick<ObjectReader, 'get'>;
  /** The type PersonalAccessToken. */
  readonly tokens: ResourceType;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown) => void;
};

const subject: PlatformSubject = { kind: 'platform', part: 'tokens' };

/**
 * Creates a function that records the last use of a token in the token's status. Callers do not await the function. A
 * failure is only logged, because the next use is recorded again. The function writes nothing if the last recorded use
 * is less than a minute ago, even after a restart.
 */
export function createTokenUseRecorder({
  execute,
  reader,
  tokens,
  clock,
  uuid,
  onError,
}: TokenUseDependencies): (name: string) => void {
  const recordTokenUse = async (name: string): Promise<void> => {
    const stored = reader.get(tokens.key, name);
    if (stored === undefined || clock.now() - lastUse(stored.bytes) < tokenUseRecordMs) return;
    const document = { status: { lastUsedAt: new Date(clock.now()).toISOString() } };
    const outcome = await execute(
      tokens,
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
    recordTokenUse(name).catch(onError);
  };
}

/**
 * Whether the failure needs no report: the token was deleted, or the disk is nearly full, which the server reports
 * elsewhere.
 */
function isExpected(reason: RejectionReason): boolean {
  return reason === 'not-found' || reason === 'insufficient-storage';
}

/** Returns the last recorded use in epoch milliseconds; -Infinity if no use is recorded. */
function lastUse(bytes: Uint8Array): number {
  const status = storedObject(bytes)['status'];
  const at =
    typeof status === 'object' && status !== null && 'lastUsedAt' in status && typeof status.lastUsedAt === 'string'
      ? Date.parse(status.lastUsedAt)
      : NaN;
  return Number.isNaN(at) ? -Infinity : at;
}
