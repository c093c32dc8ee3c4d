import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Share } from '../../../projections/replay/rebuild.ts';
import { tablesFile } from '../../../projections/lmdb-use.ts';
import { showByteCount } from '../../base/byte-count.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { spaceOf } from '../../disk/disk-space.ts';
import { replayReportMs } from '../../limits/replay.ts';
import { epochShift, logStart, type LogPosition } from '../../log/log.ts';
import { RefusedError, StoppedError } from './replay-errors.ts';
import type { ReplayPorts, ReplayStep, ReplayTask } from './replay-task.ts';

/** The position of the last folded event, and the number of folded events. */
type Folded = {
  readonly position: LogPosition;
  readonly events: number;
};

/** Reports the progress of a thread. Ends the thread on request, or if the disk is nearly full. */
export class ReplayProgress {
  readonly #task: Pick<ReplayTask, 'dir' | 'reserveBytes'>;
  readonly #ports: Pick<ReplayPorts, 'post' | 'isStopped'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #begunAt: number;
  #reported: { readonly step: ReplayStep; readonly at: number };
  #folded: Folded = { position: logStart, events: 0 };

  constructor(
    task: Pick<ReplayTask, 'dir' | 'reserveBytes'>,
    ports: Pick<ReplayPorts, 'post' | 'isStopped'>,
    clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {
    this.#task = task;
    this.#ports = ports;
    this.#clock = clock;
    this.#begunAt = clock.monotonic();
    this.#reported = { step: 'replaying', at: this.#begunAt };
  }

  /** @throws StoppedError if the thread must end. */
  goOn(): void {
    if (this.#ports.isStopped()) throw new StoppedError();
  }

  /**
   * Reports the progress of a fold. Must be called after each batch.
   *
   * @throws StoppedError or RefusedError if the thread must end.
   */
  fold(folded: Folded, { until, epoch }: { readonly until: LogPosition; readonly epoch: number }): void {
    this.#folded = folded;
    const start = epochShift(epoch);
    this.advance('replaying', { done: Number(folded.position - start), all: Number(until - start) });
  }

  /**
   * Reports the progress of a step.
   *
   * @throws StoppedError or RefusedError if the thread must end.
   */
  advance(step: ReplayStep, { done, all }: Share): void {
    this.goOn();
    const now = this.#clock.monotonic();
    // A new step is reported at once in a replay that has lasted `replayReportMs`, because the first part of the step
    // may be long.
    const since = step === this.#reported.step ? this.#reported.at : this.#begunAt;
    if (now - since < replayReportMs) return;
    this.#reported = { step, at: now };
    this.assertRoom(0);
    const { position, events } = this.#folded;
    const percent = done >= all ? 100 : Math.floor((100 * done) / all);
    this.#ports.post({ kind: 'progress', step, position: position.toString(), events, percent });
  }

  /** @throws RefusedError unless `needed` bytes are free in addition to the reserve. */
  assertRoom(needed: number): void {
    const { dir, reserveBytes } = this.#task;
    const { freeBytes } = spaceOf(statfsSync(dir));
    if (freeBytes - needed >= reserveBytes) return;
    throw new RefusedError(
      'insufficient-storage',
      `not enough free disk space for a replay: ${showByteCount(freeBytes)} are free, but the replay needs about ` +
        `${showByteCount(needed)} in addition to the reserve of ${showByteCount(reserveBytes)}`,
    );
  }
}

/** Returns the size of the tables in a folder. A replay needs about as many bytes. */
export function bytesOfTables(dir: string): number {
  return statSync(join(dir, tablesFile)).size;
}
