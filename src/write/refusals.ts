import type { HeldValue } from '../resource/type/held-values.ts';
import type { WriteOutcome } from '../command/command.ts';
import type { Subject } from '../command/subject.ts';
import { diskRetryAfterSeconds } from '../limits/disk.ts';
import { objectBytesMax } from '../limits/objects.ts';
import { writeAttemptsMax } from '../limits/writes.ts';
import type { StreamName } from '../log/log.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { WriteRules } from './rules.ts';

export type Refusal = Extract<WriteOutcome, { readonly ok: false }>;

export function unavailable(): Refusal {
  return {
    ok: false,
    rejection: {
      reason: 'unavailable',
      detail: 'the event log is unreachable, or this server is behind it: the write may be applied later, at most once',
      retryAfterSeconds: 1,
    },
  };
}

export function wrongClock(detail: string): Refusal {
  return { ok: false, rejection: { reason: 'unavailable', detail, retryAfterSeconds: 10, isUnwritten: true } };
}

export function tooMany(detail: string, retryAfterSeconds = 1): Refusal {
  return { ok: false, rejection: { reason: 'too-many-requests', detail, retryAfterSeconds } };
}

export function tooManyHashes(retryAfterSeconds: number): Refusal {
  return tooMany('too many password hashes are queued: nothing was written', retryAfterSeconds);
}

/** Refuses a write because the free space of the disk is below the reserve. */
export function diskShort(): Refusal {
  const detail =
    "the server's disk is nearly full: writes other than deletions are refused until an operator frees space";
  return { ok: false, rejection: { reason: 'insufficient-storage', detail, retryAfterSeconds: diskRetryAfterSeconds } };
}

export function keptChanging(): Refusal {
  return {
    ok: false,
    rejection: {
      reason: 'stale-version',
      detail: `the object changes too often: the write was not applied after ${String(writeAttemptsMax)} attempts`,
    },
  };
}

export function tooLarge(bytes: number): Refusal {
  const detail = `the object must be at most ${String(objectBytesMax)} bytes, is ${String(bytes)}`;
  return { ok: false, rejection: { reason: 'invalid', detail, violations: [{ pointer: '', detail }] } };
}

type Taken = { readonly type: ResourceType; readonly value: HeldValue; readonly holder: StreamName };

/**
 * Refuses a value that another object has. The detail contains the name of the other object only if the writer may read
 * that object (decision 3.6).
 */
export function refuseTaken(
  { type, value, holder }: Taken,
  subject: Subject,
  rules: Pick<WriteRules, 'mayName'>,
): Refusal {
  const name = holder.slice(holder.lastIndexOf('/') + 1);
  const detail =
    `${value.index} must be unique among ${type.plural}: ` +
    `${rules.mayName(subject, type, name) ? JSON.stringify(name) : 'another object'} has this value`;
  return {
    ok: false,
    rejection: {
      reason: 'unique-value-taken',
      detail,
      violations: [{ pointer: `/${value.index.replaceAll('.', '/')}`, detail }],
    },
  };
}
