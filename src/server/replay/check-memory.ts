import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ComparedTypes } from '../../../projections/audit/columns/compared-columns.ts';
import { checkColumns, type CheckedColumns } from '../../../projections/replay/check-columns.ts';
import type { HeldModels } from '../../../projections/replay/held-models.ts';
import { checkIndex, stepsOfCheck } from '../../../projections/replay/check-index.ts';
import { checkPermissions } from '../../../projections/replay/check-permissions.ts';
import type { ObjectModels } from '../../../projections/object-models.ts';
import type { PermissionTables } from '../../../projections/permissions/permission-tables.ts';
import { delay, type Clock } from '../../base/clock.ts';
import { inSlices, type Steps } from '../../base/steps.ts';
import {
  replayHoldMsMax,
  replayIdleTurnMs,
  replayPauseMs,
  replaySliceMs,
  replayViewAttemptsMax,
  replayViewPauseMs,
} from '../../limits/replay.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import { epochShift, logPosition, logStart } from '../../log/log.ts';
import type { AuditProgress } from '../../read/audit-progress.ts';
import type { Difference } from '../../read/replay.ts';

export type LiveModels = {
  /** The log, from which the values of columns are computed again. */
  readonly log: Pick<FoundedLog, 'readAll' | 'readStream' | 'identity'>;
  readonly columns: { hold(): ComparedTypes };
  readonly models: ObjectModels;
  readonly permissions: PermissionTables;
  readonly audit: AuditProgress;
  readonly domain: string;
  readonly clock: Clock;
  readonly disk: { isShort(): boolean };
};

/** The models cannot be compared now, for example because the machine is too busy or the disk is nearly full. */
export class NotHeldError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = 'NotHeldError';
  }
}

/**
 * Returns a view of the models at the present position. The caller must release the view.
 *
 * @throws NotHeldError if indexes are being built for too long.
 */
async function hold({ models, clock }: LiveModels, signal: AbortSignal): Promise<HeldModels> {
  for (let tried = 0; tried < replayViewAttemptsMax; tried += 1) {
    if (models.building().length === 0) return models.hold();
    await delay(clock, replayViewPauseMs, signal);
    signal.throwIfAborted();
  }
  throw new NotHeldError(`the indexes of ${models.building()[0] ?? 'a type'} are being built`);
}

export type CheckedMemory = {
  readonly difference: Difference | undefined;
  readonly indexes: number;
};

/**
 * Compares the indexes and permission tables in memory with the rows, in slices. The indexes are compared in their
 * state at the start. `onProgress` gets the compared share of the indexes in percent.
 */
export async function checkMemory(
  live: LiveModels,
  signal: AbortSignal,
  onProgress: (percent: number) => void,
): Promise<CheckedMemory> {
  const held = await hold(live, signal);
  const slices = new PacedSlices(live, signal, replayHoldMsMax);
  const all = held.indexes.reduce((sum, checked) => sum + stepsOfCheck(checked), 0);
  let done = 0;
  const onStep = (): void => {
    done += 1;
    if (done % stepsPerReport === 0) onProgress(Math.floor((100 * done) / all));
  };
  try {
    if (held.difference !== undefined) return { difference: held.difference, indexes: 0 };
    for (const [indexes, checked] of held.indexes.entries()) {
      const difference = await inSlices(counted(checkIndex(checked), onStep), slices);
      if (difference !== undefined) return { difference, indexes };
    }
  } finally {
    held.release();
  }
  const { models, permissions, domain } = live;
  const difference = await checkPermissions({ live: permissions, reader: models, feed: models, domain }, slices);
  return { difference, indexes: held.indexes.length };
}

const stepsPerReport = 1_024;

function* counted<T>(steps: Steps<T>, onStep: () => void): Steps<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    onStep();
    yield;
  }
}

/**
 * Compares the columns with the log, in slices. The duration has no limit, because no view of the models is open.
 * `onProgress` gets the compared share of the log in percent.
 */
export async function checkLiveColumns(
  live: LiveModels,
  signal: AbortSignal,
  onProgress: (percent: number) => void,
): Promise<CheckedColumns> {
  const { log, columns } = live;
  const shift = epochShift(log.identity().epoch);
  return checkColumns(columns.hold(), {
    log,
    slices: new PacedSlices(live, signal, Infinity),
    within: (position) => (position === logStart ? 0 : Number(position - shift)),
    inLog: (within) => (within === 0 ? logStart : logPosition(BigInt(within) + shift)),
    onProgress,
  });
}

/** Divides a comparison into slices. Pauses between slices leave most of a busy event loop for requests. */
class PacedSlices {
  readonly #live: Pick<LiveModels, 'clock' | 'disk'>;
  readonly #signal: AbortSignal;
  readonly #endsAt: number;
  #begunMs: number;

  constructor(live: Pick<LiveModels, 'clock' | 'disk'>, signal: AbortSignal, msMax: number) {
    this.#live = live;
    this.#signal = signal;
    this.#begunMs = live.clock.monotonic();
    this.#endsAt = this.#begunMs + msMax;
  }

  isOver(): boolean {
    return this.#live.clock.monotonic() - this.#begunMs >= replaySliceMs;
  }

  async next(): Promise<void> {
    const { clock, disk } = this.#live;
    const endedMs = clock.monotonic();
    await nextTurn();
    // An idle event loop needs no pause.
    if (clock.monotonic() - endedMs > replayIdleTurnMs) await delay(clock, replayPauseMs, this.#signal);
    this.#signal.throwIfAborted();
    this.#begunMs = clock.monotonic();
    if (disk.isShort()) throw new NotHeldError('the comparison was stopped: the disk is nearly full');
    if (this.#begunMs > this.#endsAt)
      throw new NotHeldError(`the comparison took longer than ${String(replayHoldMsMax / 1_000)} s`);
  }
}
