import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { tablesFile } from '../../../projections/lmdb-use.ts';
import { showByteCount } from '../../base/byte-count.ts';
import { systemClock } from '../../base/clock.ts';
import { spaceOf } from '../../disk/disk-space.ts';
import { replayReportMs } from '../../limits/replay.ts';
import { epochShift, type LogPosition } from '../../log/log.ts';
import { RefusedError, StoppedError } from './replay-errors.ts';
import type { ReplayPorts, ReplayTask } from './replay-task.ts';

/** The position of the last event that a fold has taken, and the number of these events. */
type Folded = { readonly position: LogPosition; readonly events: number };

/** Reports the progress of a thread, and ends the thread on request or if the disk is nearly full. */
export class ReplayProgress {
  readonly #task: Pick<ReplayTask, 'dir' | 'reserveBytes'>;
  readonly #ports: Pick<ReplayPorts, 'post' | 'isStopped'>;
  #reportedAt = systemClock.monotonic();

  constructor(task: Pick<ReplayTask, 'dir' | 'reserveBytes'>, ports: Pick<ReplayPorts, 'post' | 'isStopped'>) {
    this.#task = task;
    this.#ports = ports;
  }

  /** @throws StoppedError once the thread must end. */
  goOn(): void {
    if (this.#ports.isStopped()) throw new StoppedError();
  }

  /** Call it after each batch of a fold. @throws StoppedError or RefusedError if the thread must end. */
  report(
    { position, events }: Folded,
    { until, epoch }: { readonly until: LogPosition; readonly epoch: number },
  ): void {
    this.goOn();
    if (systemClock.monotonic() - this.#reportedAt < replayReportMs) return;
    this.#reportedAt = systemClock.monotonic();
    this.assertRoom(0);
    const start = epochShift(epoch);
    const [done, all] = [position - start, until - start];
    const percent = done >= all ? 100 : Number((done * 100n) / all);
    this.#ports.post({ kind: 'progress', position: position.toString(), events, percent });
  }

  /** @throws RefusedError unless `needed` bytes are free beside the reserve. */
  assertRoom(needed: number): void {
    const { dir, reserveBytes } = this.#task;
    const { freeBytes } = spaceOf(statfsSync(dir));
    if (freeBytes - needed >= reserveBytes) return;
    throw new RefusedError(
      'insufficient-storage',
      `not enough free disk space for a replay: ${showByteCount(freeBytes)} are free, it needs about ` +
        `${showByteCount(needed)} beside the reserve of ${showByteCount(reserveBytes)}`,
    );
  }
}

/** The bytes of the tables in a folder: about the bytes that a replay of them needs. */
export function bytesOfTables(dir: string): number {
  return statSync(join(dir, tablesFile)).size;
}
