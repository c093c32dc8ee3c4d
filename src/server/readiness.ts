import type { EventLog } from '../log/log.ts';

type Step = 'log' | 'read models' | 'plugins';

/** What this node still waits for before it serves, and what it cannot do at the moment: a line a reason. */
export class Readiness {
  readonly #log: Pick<EventLog, 'state'>;
  readonly #agreement: { problem(): string | undefined } | undefined;
  /** In the order they are gone through. */
  readonly #waiting = new Map<Step, string | (() => string)>([['read models', 'read models are catching up'], ['plugins', 'plugins are starting']]);

  /** `agreement`: says what is wrong with this node's clock, if anything is. */
  constructor(log: Pick<EventLog, 'state'>, agreement?: { problem(): string | undefined }) {
    this.#log = log;
    this.#agreement = agreement;
  }

  /** A reason that changes is given as what tells it. */
  waitFor(step: Step, reason: string | (() => string)): void {
    this.#waiting.set(step, reason);
  }

  done(step: Step): void {
    this.#waiting.delete(step);
  }

  reasons(): readonly string[] {
    const state = this.#log.state();
    // What it says itself is newer than what was learnt at the last try.
    const waiting = [...this.#waiting].map(([step, reason]) => ({ step, reason: typeof reason === 'string' ? reason : reason() }));
    const log = state.reachable ? waiting.find(({ step }) => step === 'log')?.reason : state.reason;
    const steps = waiting.filter(({ step }) => step !== 'log').map(({ reason }) => reason);
    const clock = this.#agreement?.problem();
    const wrong = clock === undefined ? steps : [clock, ...steps];
    return log === undefined ? wrong : [`the event log is unreachable: ${log}`, ...wrong];
  }
}
