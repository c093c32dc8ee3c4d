import type { IntentEvent } from '../../command/event.ts';
import { writeAttemptsMax } from '../../limits/writes.ts';
import { decodeEvent, encodeEvent } from '../../log/event-codec.ts';
import {
  ordinal,
  type ExpectedRevision,
  type LogPosition,
  type RecordedEvent,
  type StreamName,
  type StreamRevision,
} from '../../log/log.ts';
import { LogUnreadableError } from '../retrying-log.ts';
import type { ClaimsDependencies } from '../unique/unique-claims.ts';

export type IntentDependencies = Omit<ClaimsDependencies, 'clock'>;

/** The intent that a write must announce before the append. */
export type WantedIntent = {
  readonly stream: StreamName;
  /** The expected revision of the append to the object. */
  readonly base: ExpectedRevision;
  /** The keys of the objects to which the write adds strict references; undefined for a deletion. */
  readonly targets: readonly string[] | undefined;
};

type Held = {
  readonly wanted: WantedIntent;
  readonly revision: StreamRevision;
  readonly position: LogPosition;
  readonly through: number;
};

/**
 * The intent of one write that adds strict references, or that deletes an object which strict references may name
 * (docs/spec/consistency.md, 9). If two such writes exclude each other, the write with the later intent waits until the
 * earlier write has appended or can no longer append.
 */
export class HeldIntent {
  readonly #dependencies: IntentDependencies;
  #held: Held | undefined;
  /** Whether the append under the held intent may have been sent. */
  #isSpent = false;

  constructor(dependencies: IntentDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the position of the held intent if this intent covers `wanted`; undefined otherwise. */
  positionFor({ stream, base, targets = [] }: WantedIntent): LogPosition | undefined {
    const held = this.#held;
    const isCovered =
      held?.wanted.stream === stream &&
      held.wanted.base === base &&
      targets.every((target) => held.wanted.targets?.includes(target) === true);
    return isCovered ? held.position : undefined;
  }

  /**
   * Announces the write and returns the position of the intent; undefined if no intent could be appended. The write
   * must then be decided again, from a state that includes all events up to the position.
   */
  async announce(wanted: WantedIntent): Promise<LogPosition | undefined> {
    // A later event of the object has already ended the earlier intent. Without a later event, the earlier intent is
    // withdrawn.
    if (this.#held?.wanted.base === wanted.base) await this.end();
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const last = await this.#dependencies.log.readLast(wanted.stream);
      const through = Math.max(ordinal(wanted.base), throughOf(last));
      const appended = await this.#append(wanted.stream, eventOf(wanted, through), last?.revision ?? 'absent');
      if (appended.ok) {
        this.#held = { wanted, revision: appended.revision, position: appended.position, through };
        this.#isSpent = false;
        return appended.position;
      }
      if (appended.reason !== 'conflict') return undefined;
    }
    return undefined;
  }

  /** Records that the announced append may succeed from now on. */
  spend(): void {
    this.#isSpent = true;
  }

  /** Withdraws the intent if the append was not sent, so that other writes need not wait. */
  async end(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined || this.#isSpent) return;
    const { revision, through, wanted } = held;
    const event: IntentEvent = { type: 'IntentWithdrawn', revision, through };
    let expected = revision;
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const appended = await this.#append(wanted.stream, event, expected);
      if (appended.ok || appended.reason !== 'conflict') return;
      const last = await this.#dependencies.log.readLast(wanted.stream).catch(ignoreUnreadable);
      if (last === undefined) return;
      expected = last.revision;
    }
  }

  async #append(stream: StreamName, event: IntentEvent, expected: ExpectedRevision) {
    const { log, uuid, metadata } = this.#dependencies;
    return log.append(stream, [encodeEvent(uuid(), event, metadata())], expected);
  }
}

function eventOf({ targets }: WantedIntent, through: number): IntentEvent {
  return targets === undefined
    ? { type: 'DeletionIntended', through }
    : { type: 'ReferencesIntended', targets, through };
}

/** Returns `through` of the last intent in a stream; -1 for an empty stream. */
function throughOf(last: RecordedEvent | undefined): number {
  if (last === undefined) return -1;
  const { event } = decodeEvent(last);
  if ('through' in event) return event.through;
  throw new Error(`${last.stream} contains a ${event.type} event, which does not belong to this stream`);
}

/**
 * Ignores a failed read. The intent then remains pending. A write that the intent excludes waits, and fences the object
 * after the time limit.
 */
function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof LogUnreadableError)) throw error;
}
