import type { EventLog } from '../log/log.ts';

type ReadinessStep = 'log' | 'read models' | 'plugins';

/** The reasons why this node is not ready, or why a part of the node cannot work. Each reason is one line. */
export class Readiness {
  readonly #log: Pick<EventLog, 'state'>;
  readonly #agreement: { problem(): string | undefined } | undefined;
  /** The incomplete steps, each with the reason. */
  readonly #waiting = new Map<ReadinessStep, string | (() => string)>([
    ['read models', 'read models are catching up'],
    ['plugins', 'plugins are starting'],
  ]);

  /** `agreement` reports a wrong clock of this node. If undefined, the clock is not checked. */
  constructor(log: Pick<EventLog, 'state'>, agreement?: { problem(): string | undefined }) {
    this.#log = log;
    this.#agreement = agreement;
  }

  /** Sets the reason why a step is incomplete; a function if the reason changes during the wait. */
  waitFor(step: ReadinessStep, reason: string | (() => string)): void {
    this.#waiting.set(step, reason);
  }

  done(step: ReadinessStep): void {
    this.#waiting.delete(step);
  }

  reasons(): readonly string[] {
    const state = this.#log.state();
    // The present reason of an unavailable log replaces the reason of the last failed attempt.
    const waiting = [...this.#waiting].map(([step, reason]) => ({
      step,
      reason: typeof reason === 'string' ? reason : reason(),
    }));
    const log = state.reachable ? waiting.find(({ step }) => step === 'log')?.reason : state.reason;
    const steps = waiting.filter(({ step }) => step !== 'log').map(({ reason }) => reason);
    const clock = this.#agreement?.problem();
    const wrong = clock === undefined ? steps : [clock, ...steps];
    return log === undefined ? wrong : [`the event log is unreachable: ${log}`, ...wrong];
  }
}
