import { setImmediate as nextTurn } from 'node:timers/promises';

import type { CausingEvent } from '../../src/command/event.ts';
import type { Leadership } from '../../src/read/leadership.ts';
import { ReconcileSlots } from '../../reconcilers/reconcile-slots.ts';
import { Controller } from '../../reconcilers/controller.ts';
import type { ControllerOptions, Step as ControllerStep } from '../../reconcilers/controller-options.ts';
import { settled, type Outcome } from '../../reconcilers/outcome.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

/** Whatever becomes of it takes a few turns of the event loop. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** The lead, as a test says. */
export class Lead implements Leadership {
  #leads: boolean;
  readonly #listeners = new Set<(leads: boolean) => void>();

  constructor(leads = true) {
    this.#leads = leads;
  }

  isLeader(): boolean {
    return this.#leads;
  }

  subscribe(listener: (leads: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  give(leads: boolean): void {
    if (leads === this.#leads) return;
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

export type Step = {
  readonly key: string;
  readonly beganMs: number;
  readonly signal: AbortSignal;
  readonly cause: CausingEvent | undefined;
  end(outcome: Outcome): void;
  fail(error: Error): void;
};

type StageOptions = Partial<Omit<ControllerOptions, 'keys'>> & {
  readonly leads?: boolean;
  readonly keys?: readonly string[] | ControllerOptions['keys'];
};

/** A controller with steps that the test ends. */
export class Stage {
  readonly clock = new FakeClock();
  readonly lead: Lead;
  readonly bound: ReconcileSlots;
  readonly controller: Controller;
  /** Every step there was. */
  readonly begun: Step[] = [];
  readonly running = new Set<Step>();
  readonly errors: { readonly error: unknown; readonly key: string; readonly attempts: number }[] = [];
  readonly stuck: string[] = [];
  isStopped = false;

  constructor({ leads = true, keys = [], ...options }: StageOptions = {}) {
    this.lead = new Lead(leads);
    this.bound = options.bound ?? new ReconcileSlots(this.clock);
    this.controller = new Controller({
      name: 'test',
      concurrency: 3,
      clock: this.clock,
      leadership: this.lead,
      keys: typeof keys === 'function' ? keys : () => keys,
      reconcile: async (key, step) => this.#step(key, step),
      onError: (error, key, attempts) => {
        this.errors.push({ error, key, attempts });
      },
      onStuck: (key) => {
        this.stuck.push(key);
      },
      ...options,
      bound: this.bound,
    });
  }

  get keys(): readonly string[] {
    return this.begun.map(({ key }) => key);
  }

  async endAll(outcome: Outcome = settled): Promise<void> {
    for (const step of this.running) step.end(outcome);
    await turns();
  }

  async pass(ms: number, stepMs = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - passed));
      await turns();
    }
  }

  async #step(key: string, { signal, cause }: ControllerStep): Promise<Outcome> {
    if (this.isStopped) throw new Error(`${key} began after the stop`);
    if (!this.lead.isLeader()) throw new Error(`${key} began while another leads`);
    if ([...this.running].some((step) => step.key === key)) throw new Error(`${key} is held twice`);
    return new Promise((resolve, reject) => {
      const step: Step = {
        key,
        signal,
        cause,
        beganMs: this.clock.monotonic(),
        end: (outcome) => {
          this.running.delete(step);
          resolve(outcome);
        },
        fail: (error) => {
          this.running.delete(step);
          reject(error);
        },
      };
      this.running.add(step);
      this.begun.push(step);
    });
  }
}
