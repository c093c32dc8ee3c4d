import { must } from '../../base/unreachable.ts';
import type { RecentEvents } from './lmdb-recent.ts';
import type { AppendOutcome, LogFailedError, RecordedEvent, StreamName } from '../log.ts';

/** A result that waits until all records up to `position` are durable. */
type PendingAnswer = {
  readonly position: number;
  readonly outcome: AppendOutcome;
  readonly resolve: (outcome: AppendOutcome) => void;
  /** The events of the append; empty for an answer about an earlier append. */
  readonly added: readonly RecordedEvent[];
  readonly stream: StreamName;
  /** The previous append on the same stream that is not durable yet. */
  previous: PendingAnswer | undefined;
};

/** Appends that are not durable yet, in the order of their positions, and the answers that wait for them. */
export class PendingAppends {
  #answers: PendingAnswer[] = [];
  /**
   * The newest pending append of each stream. This append and the disk determine the revision that the next append may
   * expect.
   */
  readonly #newest = new Map<StreamName, PendingAnswer>();

  /** Adds a non-empty append; its events have the next positions. */
  add(stream: StreamName, added: readonly RecordedEvent[], resolve: (outcome: AppendOutcome) => void): void {
    const { revision, position } = must(added.at(-1), 'an append is not empty');
    const outcome: AppendOutcome = { ok: true, revision, position };
    const append: PendingAnswer = {
      position: Number(position),
      outcome,
      resolve,
      added,
      stream,
      previous: this.#newest.get(stream),
    };
    this.#newest.set(stream, append);
    this.#answers.push(append);
  }

  /**
   * Resolves to `outcome` when everything through `position` is durable: the outcome depends on an append that is
   * itself pending.
   */
  answerAfter(stream: StreamName, position: number, outcome: AppendOutcome): Promise<AppendOutcome> {
    return new Promise((resolve) => {
      this.#answers.push({ position, outcome, resolve, added: [], stream, previous: undefined });
    });
  }

  /** The last pending event of a stream. */
  lastOf(stream: StreamName): RecordedEvent | undefined {
    return this.#newest.get(stream)?.added.at(-1);
  }

  eventAt(stream: StreamName, revision: number): RecordedEvent | undefined {
    for (let append = this.#newest.get(stream); append !== undefined; append = append.previous) {
      const found = append.added.find((event) => event.revision === revision);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Call this when all records up to `position` are durable. Adds the durable events to `recent` and answers their
   * writers.
   */
  settle(position: number, recent: RecentEvents): void {
    let settled = 0;
    for (const answer of this.#answers) {
      if (answer.position > position) break;
      settled += 1;
      for (const event of answer.added) recent.push(event);
      answer.previous = undefined;
      if (this.#newest.get(answer.stream) === answer) this.#newest.delete(answer.stream);
      answer.resolve(answer.outcome);
    }
    this.#answers.splice(0, settled);
  }

  /** Call this when a commit has failed: the outcome of every pending append is unknown. */
  fail(cause: LogFailedError): void {
    for (const { resolve } of this.#answers) resolve({ ok: false, reason: 'unknown', cause });
    this.#answers = [];
    this.#newest.clear();
  }
}
