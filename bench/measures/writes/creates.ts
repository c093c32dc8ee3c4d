import type { Bench } from '../../bench.ts';
import { median } from '../../rounds.ts';
import type { Subject } from '../../subject/server.ts';
import { canReadUsage, usageOf } from '../../subject/usage.ts';
import { createRequest } from '../../subject/widgets.ts';

export type CreatesPlan = {
  readonly connections: number;
  readonly requests: number;
  readonly warmUp: number;
  /** Whether each object has a unique value. */
  readonly serial?: boolean;
};

/** Creates objects with new names on one server, round after round. */
export class Creates {
  made = 0;
  readonly #bench: Bench;
  readonly #subject: Subject;
  readonly #plan: Omit<CreatesPlan, 'serial'>;
  readonly #request: ReturnType<typeof createRequest>;
  readonly #cpu: number[] = [];

  constructor(bench: Bench, subject: Subject, { serial = false, ...plan }: CreatesPlan) {
    this.#bench = bench;
    this.#subject = subject;
    this.#plan = plan;
    this.#request = createRequest(serial ? 'u' : 'c', { serial });
  }

  readonly load = async (): Promise<number> => {
    const { url, pid } = this.#subject;
    let [before, after] = [Number.NaN, Number.NaN];
    const note = (phase: string): void => {
      if (!canReadUsage) return;
      if (phase === 'begin') before = usageOf(pid).cpuSeconds;
      else after = usageOf(pid).cpuSeconds;
    };
    const plan = { url, request: this.#request, status: 201, first: this.made, ...this.#plan };
    const result = await this.#bench.loader.http(plan, note);
    this.made = result.next;
    this.#cpu.push(((after - before) / result.requests) * 1_000);
    return result.perSecond;
  };

  /** The CPU seconds for 1,000 creates, over all threads. The first round is a warm-up and is not included. */
  cpu(): number {
    return median(this.#cpu.slice(1));
  }
}
