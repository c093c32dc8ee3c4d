import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import type { LoadPlan, LoadResult } from './http-load.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import type { WatchPlan, WatchResult } from './watch-load.ts';

/** The bench's handle of the load process. */
export class Loader {
  readonly #process: ChildProcess = fork(new URL('./load-process.js', import.meta.url), {
    stdio: 'inherit',
    serialization: 'advanced',
  });

  /** Runs HTTP load. `onPhase` is called when the measured part begins and when it ends. */
  async http(plan: LoadPlan, onPhase?: (phase: string) => void): Promise<LoadResult> {
    const report = await this.#order({ kind: 'http', plan }, onPhase);
    if (report.kind !== 'http') throw new Error(`unexpected report ${report.kind}`);
    if (report.result.errors > 0)
      throw new Error(
        `${report.result.errors.toString()} of ${plan.requests.toString()} responses to ${plan.request.method} ` +
          `${plan.request.path} had another status than expected: ${report.result.error ?? ''}`,
      );
    return report.result;
  }

  /** Runs watchers. `onPhase` is called with `ready` when every watcher is connected. */
  async watch(plan: WatchPlan, onPhase?: (phase: string) => void): Promise<WatchResult> {
    const report = await this.#order({ kind: 'watch', plan }, onPhase);
    if (report.kind !== 'watch') throw new Error(`unexpected report ${report.kind}`);
    return report.result;
  }

  close(): void {
    this.#process.disconnect();
  }

  #order(order: LoadOrder, onPhase: (phase: string) => void = () => undefined): Promise<LoadReport> {
    return new Promise((resolve, reject) => {
      const onMessage = (report: LoadReport): void => {
        if (report.kind === 'phase') {
          onPhase(report.phase);
          return;
        }
        this.#process.off('message', onMessage).off('exit', onExit);
        if (report.kind === 'failed') reject(new Error(report.message));
        else resolve(report);
      };
      const onExit = (): void => {
        reject(new Error('the load process ended'));
      };
      this.#process.on('message', onMessage).once('exit', onExit);
      this.#process.send(order);
    });
  }
}
