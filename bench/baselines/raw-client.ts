import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import type { RawOrder, RawReport } from './raw-client-process.ts';

/** EventStoreDB's driver without Ledgerplane, in a separate process, on the same database as the measured server. */
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

  /** Returns the appends per second. Each append adds one event to a new stream. */
  async append(order: Omit<Extract<RawOrder, { kind: 'append' }>, 'kind'>): Promise<number> {
    return (await this.#order({ kind: 'append', ...order })).perSecond;
  }

  /** Returns the events per second of a subscription from the start, until `count` events with the prefix arrived. */
  async subscribe(prefix: string, count: number): Promise<{ readonly perSecond: number; readonly seconds: number }> {
    return this.#order({ kind: 'subscribe', prefix, count });
  }

  /** Returns the last event of a stream. Comparisons append events of its size. */
  async lastOf(stream: string): Promise<{ readonly data: Uint8Array; readonly metadata: unknown }> {
    const { last } = await this.#order({ kind: 'last', stream });
    if (last === undefined) throw new Error(`the stream ${stream} has no event`);
    return last;
  }

  close(): void {
    this.#process.disconnect();
  }

  #order(order: RawOrder): Promise<Extract<RawReport, { kind: 'done' }>> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => {
        reject(new Error('the process of the raw client ended'));
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
