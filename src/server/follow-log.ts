import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

import { assertReadable } from '../../projections/level.ts';
import type { ObjectModels } from '../../projections/object-models.ts';
import {
  catchUp,
  CheckpointMismatchError,
  FoldError,
  follow,
  verifyCheckpoint,
  type Progress,
} from '../../projections/runner.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { StartError } from '../base/start-error.ts';
import { serviceController } from '../base/service-controller.ts';
import { clockAlarmMs, catchUpReportMs } from '../limits/log.ts';
import { UnsuitableLogError, type FoundedLog } from '../log/founded-log.ts';
import {
  LogCorruptError,
  LogFailedError,
  LogRefusedError,
  LogReplacedError,
  NewerEventError,
  UnknownPositionError,
} from '../log/log.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';
import type { Readiness } from './readiness.ts';
import { retryLog } from './retry-log.ts';
import type { ClockAgreement } from '../write/clock-agreement.ts';

export type FollowLogOptions = {
  readonly config: Config;
  readonly log: FoundedLog;
  readonly models: ObjectModels;
  readonly clock: Clock;
  readonly logger: PluginLogger;
  readonly readiness: Readiness;
  readonly agreement: ClockAgreement;
  /** Called when the fold has failed permanently, except after a `LogFailedError`, which the log reports. */
  readonly onFatal: (error: Error) => void;
};

/**
 * Identifies the log, folds its current events, and then folds each new event. Retries while the log is unavailable.
 */
export class LogFollower {
  readonly #options: FollowLogOptions;
  readonly #stop = serviceController();
  #following: Promise<void> = Promise.resolve();

  constructor(options: FollowLogOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the read models have folded all current events of the log.
   *
   * @throws StartError if only the operator can fix the problem.
   */
  async start(): Promise<void> {
    const { config, log, models, clock, logger, readiness } = this.#options;
    const { signal } = this.#stop;
    await this.#patiently(async () => log.found({ domain: config.platformDomain, now: clock.now(), uuid: randomUUID }));
    let reportedAt = clock.monotonic();
    const onProgress = ({ percent, folded }: Progress): void => {
      readiness.waitFor('read models', `read models are catching up: ${String(percent)} %`);
      if (clock.monotonic() - reportedAt < catchUpReportMs) return;
      reportedAt = clock.monotonic();
      logger.info('read models are catching up', { percent, folded });
    };
    await this.#patiently(async () => {
      assertReadable(models.level.level());
      await verifyCheckpoint(log, models);
    });
    await this.#patiently(async () => catchUp(log, models, { signal, onProgress }));
    signal.throwIfAborted();
    this.#watchClock();
    this.#following = this.#patiently(async () => follow(log, models, signal)).catch((error: unknown) => {
      // A failed log calls `onFatal` itself.
      if (!signal.aborted && !(error instanceof LogFailedError))
        this.#options.onFatal(error instanceof Error ? error : new Error('the read models failed', { cause: error }));
    });
  }

  /** Ends the fold. A pending `start()` rejects with `reason`. */
  async stop(reason?: unknown): Promise<void> {
    this.#stop.abort(reason);
    await this.#following;
  }

  /** Reports wrong clocks, which an operator must correct (docs/spec/consistency.md, 8). */
  #watchClock(): void {
    const { models, clock, logger, agreement } = this.#options;
    let reportedAt = -Infinity;
    models.subscribe(() => {
      const [stray, problem] = [models.strayTime(), agreement.problem()];
      if ((stray === undefined && problem === undefined) || clock.monotonic() - reportedAt < clockAlarmMs) return;
      reportedAt = clock.monotonic();
      if (problem !== undefined) logger.error(problem);
      if (stray === undefined) return;
      const aheadSeconds = Math.round((stray - agreement.reference()) / 1_000);
      logger.warn('an event has a timestamp in the future: the clock of this node or of another node is wrong', {
        aheadSeconds,
      });
    });
  }

  async #patiently(attempt: () => Promise<unknown>): Promise<void> {
    const { log, models, clock, logger, readiness, config } = this.#options;
    await retryLog(attempt, {
      log,
      clock,
      logger,
      signal: this.#stop.signal,
      isFinal,
      finalError: (error) => operatorError(error, config),
      folded: () => models.folded(),
      onWaiting: (reason) => {
        if (reason === undefined) readiness.done('log');
        else readiness.waitFor('log', reason);
      },
      message: 'the event log is unavailable; retrying',
    });
  }
}

/** The errors of a log that was replaced or restored. */
const exchangeErrors = [LogReplacedError, CheckpointMismatchError, UnknownPositionError];
const finalErrors = [
  ...exchangeErrors,
  FoldError,
  UnsuitableLogError,
  LogCorruptError,
  LogFailedError,
  LogRefusedError,
];

function isFinal(error: unknown): boolean {
  return finalErrors.some((kind) => error instanceof kind);
}

/** Appends advice to errors that an operator can fix. Returns other errors unchanged, or the cause of a `FoldError`. */
function operatorError(error: unknown, { dataDir }: Config): unknown {
  const cause = error instanceof FoldError ? error.cause : error;
  const advice = adviceOn(cause, join(dataDir, 'read-models'));
  return cause instanceof Error && advice !== undefined
    ? new StartError(`${cause.message}${advice}`, {
        exitCode: cause instanceof LogCorruptError && !(cause instanceof NewerEventError) ? 1 : 2,
        cause,
      })
    : cause;
}

function adviceOn(error: unknown, tablesDir: string): string | undefined {
  if (error instanceof LogRefusedError)
    return (
      '; check the user, the password and tls= of EVENT_LOG (with tls=false, user and ' +
      'password are not sent), and the permissions of this user'
    );
  if (exchangeErrors.some((kind) => error instanceof kind)) return `; ${afterExchange(tablesDir)}`;
  if (error instanceof NewerEventError)
    return '; start the version of this program that wrote the event, or a later version';
  if (error instanceof LogCorruptError) return '; restore the log from a backup, then run ledgerplane log new-epoch';
  return error instanceof UnsuitableLogError ? '' : undefined;
}

/**
 * Returns the advice for a log that was replaced or restored. A restored log needs a new epoch, because clients
 * otherwise miss changes.
 */
function afterExchange(tablesDir: string): string {
  return (
    'after a restore, stop all nodes and run ledgerplane log new-epoch; if the log was replaced ' +
    `on purpose, remove ${tablesDir}: the read models are rebuilt from the log`
  );
}
