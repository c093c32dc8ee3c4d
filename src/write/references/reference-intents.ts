import { delay, type Clock } from '../../base/clock.ts';
import { claimPendingWaitMs, smallEventBytes } from '../../limits/writes.ts';
import { streamName, type LogPosition } from '../../log/log.ts';
import type { PendingIntent, ReferenceReader } from '../../read/references/reference-reader.ts';
import { isStrict } from '../../resource/references/reference-declaration.ts';
import { targetKey } from '../../resource/references/named-targets.ts';
import type { Attempt } from '../attempts.ts';
import type { Writing } from '../execute-types.ts';
import type { FoldedStates } from '../folded-states.ts';
import { unavailable } from '../refusals.ts';
import type { RetryingLog } from '../retrying-log.ts';
import { baseOf, type Target } from '../target.ts';
import { appendFence } from '../unique/unique-claims.ts';
import { HeldIntent, type WantedIntent } from './held-intent.ts';

export type ReferenceIntentDependencies = {
  readonly log: RetryingLog;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly folded: Pick<FoldedStates, 'reach'>;
  readonly references: ReferenceReader | undefined;
};

/**
 * The intents of writes that could break strict references: writes that add such references, and deletions
 * (docs/spec/consistency.md, 9).
 */
export class ReferenceIntents {
  readonly #dependencies: ReferenceIntentDependencies;

  constructor(dependencies: ReferenceIntentDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the intent of a write that adds the strict references `gained`; undefined without such references. */
  ofReferences(target: Target, gained: readonly string[]): WantedIntent | undefined {
    const { type, name } = target;
    if (gained.length === 0) return undefined;
    const stream = streamName(`ref:${targetKey(type.key, name)}`);
    return { stream, base: baseOf(target).base, targets: gained };
  }

  /** Returns the intent of a deletion; undefined if no strict reference may name the object. */
  ofDeletion(target: Target): WantedIntent | undefined {
    const { type, name } = target;
    if (this.#dependencies.references?.declaredTo(type.key).some(isStrict) !== true) return undefined;
    const stream = streamName(`closing:${targetKey(type.key, name)}`);
    return { stream, base: baseOf(target).base, targets: undefined };
  }

  /**
   * Returns the pending writes that exclude this write and have an intent before `position`, the position of this
   * write's intent. Only a call in the turn of the decision is reliable, because a later call may miss a write that
   * changed the state.
   */
  opposing({ type, name }: Target, { targets }: WantedIntent, position: LogPosition): readonly PendingIntent[] {
    const { references } = this.#dependencies;
    if (references === undefined) return [];
    if (targets === undefined) return references.naming(targetKey(type.key, name), position);
    return targets.flatMap((target) => references.closings(target, position));
  }

  /** Announces the write, and waits until this node has folded the intent. The command must then be decided again. */
  async announce(wanted: WantedIntent, { given, metadata }: Writing): Promise<Attempt> {
    const { folded, log, uuid } = this.#dependencies;
    const bytes = smallEventBytes + (wanted.targets ?? []).reduce((sum, target) => sum + target.length, 0);
    const limited = given.admitted.charge(bytes);
    if (limited !== undefined) return limited;
    given.intent ??= new HeldIntent({ log, uuid, metadata: () => metadata });
    const position = await given.intent.announce(wanted);
    return position === undefined ? unavailable() : folded.reach(position);
  }

  /**
   * Waits until no pending write excludes this write. After the time limit, fences the pending writes. The command must
   * then be decided again. Only the write with the later intent waits, so two writes never wait for each other.
   */
  async waitFor(pending: () => readonly PendingIntent[], { metadata }: Writing): Promise<Attempt> {
    const { clock } = this.#dependencies;
    const until = clock.monotonic() + claimPendingWaitMs;
    while (pending().length > 0) {
      if (clock.monotonic() >= until) return this.#fence(pending(), metadata);
      await delay(clock, pendingPollMs);
    }
    return 'again';
  }

  async #fence(pending: readonly PendingIntent[], metadata: Writing['metadata']): Promise<Attempt> {
    const { folded, log, uuid } = this.#dependencies;
    let last: LogPosition | undefined;
    for (const { object, through } of pending) {
      const stream = streamName(`object:${object}`);
      const head = await log.readLast(stream);
      if (head !== undefined && head.revision > through) {
        last = head.position;
        continue;
      }
      const fenced = await appendFence({ log, uuid, metadata: () => metadata }, stream, head);
      if (fenced.ok) last = fenced.position;
      else if (fenced.reason !== 'conflict') return unavailable();
    }
    return last === undefined ? 'again' : folded.reach(last);
  }
}

const pendingPollMs = 5;
