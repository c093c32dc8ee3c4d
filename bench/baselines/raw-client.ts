import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import type { RawOrder, RawReport } from './raw-client-process.ts';

/** What the driver does without us, as a process of its own, against the same server. */
export class RawClient {
  readonly #process: ChildProcess;

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  constructor(url: string) {
    this.#process = fork(new URL('./raw-client-process.js', import.meta.url), [url], {
      stdio: 'inherit',
      serialization: 'advanced',
    });
  }

  /** Appends of one event each a second, to streams of their own that must not be there yet. */
  async append(order: Omit<Extract<RawOrder, { kind: 'append' }>, 'kind'>): Promise<number> {
    return (await this.#order({ kind: 'append', ...order })).perSecond;
  }

  /** Events a second of a subscription from the start, until so many with the prefix have come. */
  async subscribe(prefix: string, count: number): Promise<{ readonly perSecond: number; readonly seconds: number }> {
    return this.#order({ kind: 'subscribe', prefix, count });
  }

  /** The last event of a stream, so that appends for comparison are as large. */
  async lastOf(stream: string): Promise<{ readonly data: Uint8Array; readonly metadata: unknown }> {
    const { last } = await this.#order({ kind: 'last', stream });
    if (last === undefined) throw new Error(`${stream} is not there`);
    return last;
  }

  close(): void {
    this.#process.disconnect();
  }

  #order(order: RawOrder): Promise<Extract<RawReport, { kind: 'done' }>> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => {
        reject(new Error("the raw client's process ended"));
      };
      this.#process.once('exit', onExit).once('message', (report: RawReport) => {
        this.#process.off('exit', onExit);
        if (report.kind === 'done') resolve(report);
        else reject(new Error(report.message));
      });
      this.#process.send(order);
    });
  }
}
