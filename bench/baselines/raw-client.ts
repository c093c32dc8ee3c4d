import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import type { RawOrder, RawReport } from './raw-client-process.ts';

/** EventStoreDB's driver alone, in a process of its own, on the same database as the measured server. */
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

  /** Appends of one event each per second, to new streams. */
  async append(order: Omit<Extract<RawOrder, { kind: 'append' }>, 'kind'>): Promise<number> {
    return (await this.#order({ kind: 'append', ...order })).perSecond;
  }

  /** Events per second of a subscription from the start, until `count` events with the prefix have arrived. */
  async subscribe(prefix: string, count: number): Promise<{ readonly perSecond: number; readonly seconds: number }> {
    return this.#order({ kind: 'subscribe', prefix, count });
  }

  /** The last event of a stream: comparisons append events of its size. */
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
