import { join } from 'node:path';

import type { AuditModels } from '../../projections/audit/audit-models.ts';
import { catchUp, CheckpointMismatchError, FoldError, follow, verifyCheckpoint } from '../../projections/runner.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/error-message.ts';
import type { LeftOutError } from '../audit/tree/leaf-check.ts';
import { StartError } from '../base/start-error.ts';
import { serviceController } from '../base/service-controller.ts';
import type { Config } from '../config/config.ts';
import type { FoundedLog } from '../log/founded-log.ts';
import { LogFailedError, logStart } from '../log/log.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';
import { TreeMismatchError } from '../read/folded-tree.ts';
import { MissingRevisionError } from '../read/versions.ts';
import { retryLog } from './retry-log.ts';

export type AuditFollowerOptions = {
  readonly config: Pick<Config, 'dataDir'>;
  readonly log: FoundedLog;
  readonly audit: AuditModels;
  /**
   * The columns of the audit read models. `start` is called after the check that the indexes belong to the log, in each
   * attempt. `close` is called before incomplete indexes are emptied, and at the end.
   */
  readonly columns?: { start(): void; close(): Promise<void> };
  readonly clock: Clock;
  readonly logger: PluginLogger;
  /**
   * Called with an error that must end this process: the log differs from a tree in one of its events, or the indexes
   * lack an event.
   */
  readonly onFatal: (error: Error) => void;
};

/**
 * Folds the audit indexes in the background. The server may become ready earlier, and refuses requests that need the
 * indexes until the indexes have caught up. Indexes that do not match the log are rebuilt.
 */
export class AuditFollower {
  readonly #options: AuditFollowerOptions;
  readonly #stop = serviceController();
  #following: Promise<void> = Promise.resolve();
  /** Ends the subscription. The indexes then catch up from the log and subscribe again. */
  #subscription = new AbortController();
  /**
   * Whether the current catch-up began at the first event of the log. An event that the indexes then lack is also
   * missing in the log.
   */
  #isWholeBuild = false;

  constructor(options: AuditFollowerOptions) {
    this.#options = options;
  }

  /** Starts the fold. Must be called after the read models have caught up. */
  start(): void {
    const { audit, config, logger, onFatal } = this.#options;
    audit.onOverdue(() => {
      this.#subscription.abort();
    });
    this.#following = this.#follow().catch(async (error: unknown) => {
      if (this.#stop.signal.aborted || error instanceof LogFailedError) return;
      if (error instanceof FoldError && error.cause instanceof TreeMismatchError) {
        onFatal(operatorError(error.cause, config));
        return;
      }
      if (error instanceof FoldError && error.cause instanceof MissingRevisionError && !this.#isWholeBuild) {
        await this.#endIncomplete(error.cause);
        return;
      }
      audit.setUnavailable(`the audit indexes failed: ${messageOf(error)}`);
      logger.error('the audit indexes failed: audit requests are refused until a restart', { err: error });
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await this.#options.columns?.close();
  }

  /** Ends the node because its indexes lack an event. Empties the indexes, so that the next start rebuilds them. */
  async leftOut(error: LeftOutError): Promise<void> {
    this.#options.audit.setUnavailable(error.message);
    this.#stop.abort();
    await this.#following;
    await this.#endIncomplete(error);
  }

  async #endIncomplete(error: LeftOutError | MissingRevisionError): Promise<void> {
    const { audit, columns, onFatal } = this.#options;
    audit.setUnavailable(error.message);
    await columns?.close();
    audit.clear();
    const advice = 'the next start rebuilds the audit indexes from the log';
    onFatal(new StartError(`${error.message}; ${advice}`, { exitCode: 1, cause: error }));
  }

  async #follow(): Promise<void> {
    const { log, audit, clock, logger } = this.#options;
    const { signal } = this.#stop;
    await retryLog(async () => this.#once(), {
      log,
      clock,
      logger,
      signal,
      isFinal: (error) => error instanceof FoldError || error instanceof LogFailedError,
      folded: () => audit.folded(),
      onWaiting: (reason) => {
        audit.setUnavailable(reason);
      },
      message: 'the audit indexes cannot read the event log; retrying',
    });
  }

  async #once(): Promise<void> {
    const { log, audit, columns, logger } = this.#options;
    const { signal } = this.#stop;
    await verifyCheckpoint(log, audit).catch((error: unknown) => {
      if (!(error instanceof CheckpointMismatchError)) throw error;
      logger.warn('the audit indexes do not match the event log and are rebuilt', { reason: error.message });
      audit.clear();
    });
    // Each position in the indexes now belongs to this log and epoch.
    columns?.start();
    const onProgress = ({ percent }: { readonly percent: number }): void => {
      audit.setUnavailable(`the audit indexes are being built: ${String(percent)} %`);
    };
    this.#isWholeBuild = audit.position() === logStart;
    await catchUp(log, audit, { signal, onProgress });
    this.#isWholeBuild = false;
    signal.throwIfAborted();
    audit.setUnavailable(undefined);
    logger.info('the audit indexes have caught up with the event log', { events: audit.folded() });
    for (;;) {
      this.#subscription = new AbortController();
      const subscribed = AbortSignal.any([signal, this.#subscription.signal]);
      await follow(log, audit, subscribed, { rest: async () => audit.rest(subscribed) });
      signal.throwIfAborted();
      logger.warn('the subscription of the audit indexes has fallen behind: the indexes catch up by reading the log', {
        position: audit.position().toString(),
      });
      await catchUp(log, audit, { signal });
    }
  }
}

/** Returns the error for a log that differs from the log that a node read earlier. */
function operatorError(cause: TreeMismatchError, { dataDir }: Pick<Config, 'dataDir'>): StartError {
  const advice =
    `stop all nodes; remove ${join(dataDir, 'audit-models')}: this node rebuilds this folder from the log; if the ` +
    'node stops again, the log was changed: restore the log from a backup, then run ledgerplane log new-epoch';
  return new StartError(`${cause.message}; ${advice}`, { exitCode: 1, cause });
}
