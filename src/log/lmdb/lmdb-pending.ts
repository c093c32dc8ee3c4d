import { must } from '../../base/unreachable.ts';
import type { RecentEvents } from './lmdb-recent.ts';
import type { AppendOutcome, LogFailedError, RecordedEvent, StreamName } from '../log.ts';

/** The result of an append. The result is returned when all records up to `position` are durable. */
type PendingAnswer = {
  readonly position: number;
  readonly outcome: AppendOutcome;
  readonly resolve: (outcome: AppendOutcome) => void;
  /** The events of the append; empty for an answer about an earlier append. */
  readonly added: readonly RecordedEvent[];
  readonly stream: StreamName;
  /** The previous append to the same stream, if that append is not durable yet. */
  previous: PendingAnswer | undefined;
};

/** The appends that are not durable yet, in order. */
export class PendingAppends {
  #answers: PendingAnswer[] = [];
  /** The newest pending append of each stream. */
  readonly #newest = new Map<StreamName, PendingAnswer>();

  /** Adds a non-empty append. */
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
   * Resolves to `outcome` when all records up to `position` are durable. Resolves to an unknown outcome if a commit
   * fails.
   */
  answerAfter(stream: StreamName, position: number, outcome: AppendOutcome): Promise<AppendOutcome> {
    return new Promise((resolve) => {
      this.#answers.push({ position, outcome, resolve, added: [], stream, previous: undefined });
    });
  }

  /** Returns the last pending event of a stream; undefined without a pending event. */
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
   * Adds the events up to `position` to `recent`, and resolves their appends. All records up to `position` must be
   * durable.
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

  /** Resolves each pending result to an unknown outcome, after a failed commit. */
  fail(cause: LogFailedError): void {
    for (const { resolve } of this.#answers) resolve({ ok: false, reason: 'unknown', cause });
    this.#answers = [];
    this.#newest.clear();
  }
}
