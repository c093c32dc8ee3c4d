import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';

import { pino } from 'pino';

import { systemClock } from '../base/clock.ts';
import { decodeConfig } from '../config/config.ts';
import { readEnvironment } from '../config/environment.ts';
import { StartError } from '../base/start-error.ts';
import { serviceController } from '../base/service-controller.ts';
import type { Config } from '../config/config.ts';
import { EventLoopWatch } from './event-loop/event-loop-watch.ts';
import { shutdownMs } from '../limits/requests.ts';
import { isStrayAppendReply } from '../log/eventstore/eventstore-stray.ts';
import { isStrayCommitFailure } from '../log/lmdb/lmdb-store.ts';
import { CodeFolders } from '../plugin/errors/error-attribution.ts';
import { startServer } from './server.ts';
import type { RunningServer } from './server.ts';

/** The part of `shutdownMs` for flushing the logs and for the exit. */
const exitMarginMs = 500;

/**
 * The maximum number of attempts to write to a stalled reader of the logs at the exit. Each attempt takes a tenth of a
 * second.
 */
const flushRefusalsMax = 3;
/** The maximum time for which a graceful stop waits for the last line of the log. */
const logWrittenMs = 100;
/** The maximum size of the buffer for a stalled reader of the logs, in bytes. Further lines are dropped. */
const logBufferBytesMax = 1_048_576;

type Logger = ReturnType<typeof openLog>;

/** Runs `ledgerplane serve`. The ready line goes to standard output, and the logs go to standard error. */
export async function serve(): Promise<void> {
  const folder = process.cwd();
  const decoded = decodeConfig(readEnvironment(folder, process.env), folder);
  if (!decoded.ok) throw new StartError(decoded.mistakes.join('\n'), { exitCode: 2 });
  const { log, flush, written } = openLog(decoded.config);
  const suspects = new CodeFolders();
  logWarnings(log);
  const onFatal = exitOnBugs({ log, flush }, suspects);
  const eventLoop = new EventLoopWatch({ log, clock: systemClock, fd: process.stderr.fd });
  suspects.follow((all) => {
    eventLoop.know(all);
  });
  const stopping = serviceController();
  const onListening = (url: string): void => {
    log.info(
      { url },
      'listening: probes are answered now, requests to the platform once the event log is read, and requests to a ' +
        'plugin once the plugin has started',
    );
  };
  const starting = startServer(decoded.config, {
    log,
    clock: systemClock,
    onFatal,
    onListening,
    signal: stopping.signal,
    suspects,
    eventLoop,
  });
  stopOnSignal(starting, stopping, { log, flush, written });
  if (decoded.config.tls.kind === 'files') reloadOnSignal(starting);
  const server = await starting.catch((error: unknown) => {
    // The server was stopped during its start, so the signal handler ends the process.
    if (stopping.signal.aborted && !(error instanceof StartError)) return undefined;
    throw error;
  });
  if (server === undefined) return;
  // From now on, most garbage comes from requests, so the heap is collected after a growth of 40 % instead of 100 %.
  // During the start, almost all memory stays in use, and more collections would only delay the start.
  setFlagsFromString('--heap-growing-percent=40');
  const { log: logName, events, types } = server.ready;
  process.stdout.write(
    `ledgerplane ready on ${server.url} (${logName}, ${events.toString()} events, ${types.toString()} types)\n`,
  );
}

/** Logs Node's warnings in the format of the log. */
function logWarnings(log: pino.Logger): void {
  process.removeAllListeners('warning').on('warning', (warning: Error & { readonly code?: unknown }) => {
    log.warn(
      { warning: warning.name, ...(typeof warning.code === 'string' ? { code: warning.code } : {}) },
      warning.message,
    );
  });
}

type OpenedLog = {
  readonly log: pino.Logger;
  readonly flush: () => void;
  /** Resolves when the previously logged lines are written, or after `logWrittenMs`. */
  readonly written: () => Promise<void>;
};

function openLog(config: Config): OpenedLog {
  let flushing = false;
  let refusals = 0;
  // Limits the time for which the exit waits for a stalled reader of the logs.
  const retryEAGAIN = (): boolean => !flushing || (refusals += 1) < flushRefusalsMax;
  const destination = pino.destination({
    dest: process.stderr.fd,
    sync: false,
    maxLength: logBufferBytesMax,
    retryEAGAIN,
  });
  // Whether the reader of the logs has closed the stream. The server then continues without flushing.
  let isClosed = false;
  destination
    .on('error', () => {
      isClosed = true;
    })
    .on('write', () => {
      isClosed = false;
    });
  process.stdout.on('error', () => undefined);
  const flush = (): void => {
    flushing = true;
    try {
      if (!isClosed) destination.flushSync();
    } catch {
      // Standard error is closed or not open yet.
    }
    // Otherwise, the library would flush again at the exit.
    destination.destroy();
  };
  const log = pino({ level: config.logLevel, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  // Waits for the write in progress, which `flushSync` would lose at the exit.
  const written = async (): Promise<void> => {
    if (isClosed || !log.isLevelEnabled('info')) return;
    await new Promise<void>((resolve) => {
      destination.once('drain', resolve).once('error', resolve);
      systemClock.after(logWrittenMs, resolve);
    });
  };
  return { log, flush, written };
}

/**
 * Ends the process after an uncaught exception or unhandled rejection of the platform, because the state of the process
 * is then unknown. All acknowledged writes are on disk. An error of a plugin is only logged, because the error occurred
 * outside of all platform code.
 *
 * Returns the function that ends the process after a failure of the log or of a read model.
 */
function exitOnBugs({ log, flush }: Pick<Logger, 'log' | 'flush'>, suspects: CodeFolders): (error: Error) => void {
  const exit = (kind: string, error: unknown): never => {
    log.fatal({ err: error }, kind);
    flush();
    process.exit(1);
  };
  const handle =
    (kind: string) =>
    (error: unknown): void => {
      // The driver's error affects only pending appends. Retries with the same events determine their outcomes.
      if (isStrayAppendReply(error)) {
        log.warn('the EventStoreDB driver lost replies to appends: retries determine the outcomes');
        return;
      }
      // The embedded log itself reports this failure, with the reason.
      if (isStrayCommitFailure(error)) return;
      const plugin = suspects.pluginOf(error);
      if (plugin === undefined) exit(kind, error);
      else log.error({ plugin, error: suspects.inSources(shown(error)) }, `${kind} of a plugin`);
    };
  process.on('uncaughtException', handle('uncaught exception'));
  process.on('unhandledRejection', handle('unhandled rejection'));
  return (error) => {
    if (!(error instanceof StartError)) exit('the log or the read models failed', error);
    log.fatal(error.message);
    flush();
    process.exit(error instanceof StartError ? error.exitCode : 1);
  };
}

/** Converts a thrown value to text. A plugin may throw any value, and reading the value may throw again. */
function shown(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : String(error);
  } catch {
    return 'an error that cannot be printed';
  }
}

/**
 * Reloads the certificate on SIGHUP. Must be called only with certificate files, because SIGHUP otherwise ends the
 * process.
 */
function reloadOnSignal(starting: Promise<RunningServer>): void {
  process.on('SIGHUP', () => {
    starting.then(
      (server) => {
        server.reloadCertificate();
      },
      () => undefined,
    );
  });
}

/**
 * Starts a graceful stop on the first SIGTERM or SIGINT, also during the start. A second signal ends the process
 * immediately.
 */
function stopOnSignal(
  starting: Promise<RunningServer>,
  stopping: AbortController,
  { log, flush, written }: Logger,
): void {
  const stop = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (stopping.signal.aborted) {
      flush();
      process.exit(128 + constants.signals[signal]);
    }
    stopping.abort();
    log.info({ signal }, 'stopping');
    const leave = (outcome: string): void => {
      log.info(outcome);
      void written().then(() => {
        flush();
        process.exit(0);
      });
    };
    // Unfinished work is then abandoned, as after a kill. No acknowledged write is lost.
    systemClock.after(shutdownMs - exitMarginMs, () => {
      leave('stopped before all work was finished');
    });
    starting
      .then((server) => server.close())
      .then(
        () => {
          leave('stopped');
        },
        (error: unknown) => {
          if (error === stopping.signal.reason) {
            leave('stopped before the start was finished');
            return;
          }
          log.error({ err: error }, 'the graceful stop failed: the process ends with exit code 1');
          flush();
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
