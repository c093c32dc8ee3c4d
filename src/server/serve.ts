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

/** The part of `shutdownMs` reserved for flushing the logs and the exit. */
const exitMarginMs = 500;

/** Attempts to write to a stalled reader of the logs at the exit: a tenth of a second each. */
const flushRefusalsMax = 3;
/** How long an orderly stop waits for its last line to be written. */
const logWrittenMs = 100;
/** The buffer for a stalled reader of the logs; further lines are dropped. */
const logBufferBytesMax = 1_048_576;

type Logger = ReturnType<typeof openLog>;
/** The plugin that an error came from; undefined for the platform. */
type Blame = (error: unknown) => string | undefined;

/** `ledgerplane serve`: standard output has the ready line, standard error the logs. */
export async function serve(): Promise<void> {
  const folder = process.cwd();
  const decoded = decodeConfig(readEnvironment(folder, process.env), folder);
  if (!decoded.ok) throw new StartError(decoded.mistakes.join('\n'), { exitCode: 2 });
  const { log, flush, written } = openLog(decoded.config);
  const suspects = new CodeFolders();
  logWarnings(log);
  const onFatal = exitOnBugs({ log, flush }, (error) => suspects.pluginOf(error));
  const eventLoop = new EventLoopWatch({ log, clock: systemClock, fd: process.stderr.fd });
  suspects.follow((all) => {
    eventLoop.know(all);
  });
  const stopping = serviceController();
  const onListening = (url: string): void => {
    log.info(
      { url },
      'listening; serving probes, then the platform when the log has been read, then each plugin when it has started',
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
    // The server was stopped, so the signal handler ends the process.
    if (stopping.signal.aborted && !(error instanceof StartError)) return undefined;
    throw error;
  });
  if (server === undefined) return;
  // From here on garbage comes from requests, so the heap is collected when it has grown by two fifths instead of
  // doubled. During the index builds almost everything is live, so more frequent collections would only delay the
  // start.
  setFlagsFromString('--heap-growing-percent=40');
  const { log: logName, events, types } = server.ready;
  process.stdout.write(
    `ledgerplane ready on ${server.url} (${logName}, ${events.toString()} events, ${types.toString()} types)\n`,
  );
}

/** Logs Node's warnings as regular log lines; by default Node prints plain text. */
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
  /** Resolves when all lines so far are written, or after a short time. */
  readonly written: () => Promise<void>;
};

function openLog(config: Config): OpenedLog {
  let flushing = false;
  let refusals = 0;
  // A stalled reader of the logs costs a bounded buffer, and a bounded time at the exit.
  const retryEAGAIN = (): boolean => !flushing || (refusals += 1) < flushRefusalsMax;
  const destination = pino.destination({
    dest: process.stderr.fd,
    sync: false,
    maxLength: logBufferBytesMax,
    retryEAGAIN,
  });
  // Whether the reader of the logs is closed, which must not end the server: flushing would then never succeed.
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
      // Standard error is closed or not open yet: nothing can be logged.
    }
    // Otherwise the library would flush again at the exit, and never succeed.
    destination.destroy();
  };
  const log = pino({ level: config.logLevel, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  // A write in progress is lost at the exit instead of flushed, and a failing flush would be retried for ever.
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
 * An uncaught exception leaves the process in an unknown state: acknowledged writes are on disk, so the process ends.
 * An exception of a plugin occurred outside of all platform code, so the platform continues and logs it with the
 * plugin's name.
 */
function exitOnBugs({ log, flush }: Pick<Logger, 'log' | 'flush'>, blame: Blame): (error: Error) => void {
  const exit = (kind: string, error: unknown): never => {
    log.fatal({ err: error }, kind);
    flush();
    process.exit(1);
  };
  const handle =
    (kind: string) =>
    (error: unknown): void => {
      // An error of the driver, and not of this program. It affects only appends in flight, which their ids resolve.
      if (isStrayAppendReply(error)) {
        log.warn('the event log replied to an append after its timeout');
        return;
      }
      // The embedded log reports this failure itself, with its reason.
      if (isStrayCommitFailure(error)) return;
      const plugin = blame(error);
      if (plugin === undefined) exit(kind, error);
      else log.error({ plugin, error: shown(error) }, `${kind} of a plugin`);
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

/** A plugin may throw anything: reading a property of it may throw. */
function shown(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : String(error);
  } catch {
    return 'an error that cannot be printed';
  }
}

/** Without files to reload, SIGHUP ends the process, as when its terminal is closed. */
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

/** The first signal starts an orderly stop, also during the start; the second one ends the process at once. */
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
    // Unfinished work is abandoned as by a kill, which loses no acknowledged write.
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
          log.error({ err: error }, 'the graceful stop failed');
          flush();
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
