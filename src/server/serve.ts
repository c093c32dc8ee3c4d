import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';

import { pino } from 'pino';

import { systemClock } from '../base/clock.ts';
import { decodeConfig } from '../config/config.ts';
import { readEnvironment } from '../config/environment.ts';
import { StartError } from '../base/start-error.ts';
import type { Config } from '../config/config.ts';
import { EventLoopWatch } from './event-loop/event-loop-watch.ts';
import { shutdownMs } from '../limits/requests.ts';
import { isStrayAppendReply } from '../log/eventstore/eventstore-stray.ts';
import { isStrayCommitFailure } from '../log/lmdb/lmdb-store.ts';
import { Suspects } from '../plugin/lifecycle/error-attribution.ts';
import { startServer } from './server.ts';
import type { RunningServer } from './server.ts';

/** Time left of `shutdownMs` to flush the logs and exit. */
const exitMarginMs = 500;

/** How often a stalled reader of the logs is tried again when the process ends: a tenth of a second each time. */
const flushRefusalsMax = 3;
/** How long an ordered stop waits for its last line to be written. */
const logWrittenMs = 100;
/** Log lines kept for a reader that stalls; what comes past it is dropped. */
const logBufferBytesMax = 1_048_576;

type Logger = ReturnType<typeof openLog>;
/** The plugin whose code an error came from; undefined when it is the platform's own. */
type Blame = (error: unknown) => string | undefined;

/** `ledgerplane serve`: standard output holds the one ready line, standard error the logs. */
export async function serve(): Promise<void> {
  const folder = process.cwd();
  const decoded = decodeConfig(readEnvironment(folder, process.env), folder);
  if (!decoded.ok) throw new StartError(decoded.mistakes.join('\n'), { exitCode: 2 });
  const { log, flush, written } = openLog(decoded.config);
  const suspects = new Suspects();
  tellWarnings(log);
  const onFatal = exitOnBugs({ log, flush }, (error) => suspects.blame(error));
  const eventLoop = new EventLoopWatch({ log, clock: systemClock, fd: process.stderr.fd });
  suspects.follow((all) => { eventLoop.know(all); });
  const stopping = new AbortController();
  const onListening = (url: string): void => { log.info({ url }, 'listening; serving probes, then the platform when the log has been read, then each plugin when it has started'); };
  const starting = startServer(decoded.config, { log, clock: systemClock, onFatal, onListening, signal: stopping.signal, suspects, eventLoop });
  stopOnSignal(starting, stopping, { log, flush, written });
  const server = await starting.catch((error: unknown) => {
    // It was told to stop, and whoever heard that ends the process.
    if (stopping.signal.aborted && !(error instanceof StartError)) return undefined;
    throw error;
  });
  if (server === undefined) return;
  // From here on garbage comes from requests: the heap is collected when it has grown by two fifths, not when it has doubled.
  // Before, while indexes are built, almost everything stays, and collecting more often would only delay the start.
  setFlagsFromString('--heap-growing-percent=40');
  const { log: logName, events, types } = server.ready;
  process.stdout.write(`ledgerplane ready on ${server.url} (${logName}, ${events.toString()} events, ${types.toString()} types)\n`);
}

/** What Node itself warns of, as a line of the log like any other: it would write plain text between them. */
function tellWarnings(log: pino.Logger): void {
  process.removeAllListeners('warning').on('warning', (warning: Error & { readonly code?: unknown }) => {
    log.warn({ warning: warning.name, ...typeof warning.code === 'string' ? { code: warning.code } : {} }, warning.message);
  });
}

type OpenedLog = {
  readonly log: pino.Logger;
  readonly flush: () => void;
  /** Resolves when the lines so far are written, or when nobody takes them within a moment. */
  readonly written: () => Promise<void>;
};

function openLog(config: Config): OpenedLog {
  let flushing = false;
  let refusals = 0;
  // A reader of the logs that stalls costs a bounded buffer, and the end of the process a bounded time.
  const retryEAGAIN = (): boolean => !flushing || (refusals += 1) < flushRefusalsMax;
  const destination = pino.destination({ dest: process.stderr.fd, sync: false, maxLength: logBufferBytesMax, retryEAGAIN });
  // One that went away must not take the server with it; to flush would be to try for ever.
  let isGone = false;
  destination.on('error', () => { isGone = true; }).on('write', () => { isGone = false; });
  process.stdout.on('error', () => undefined);
  const flush = (): void => {
    flushing = true;
    try {
      if (!isGone) destination.flushSync();
    } catch {
      // Standard error is gone or not open yet: there is nobody to tell.
    }
    // Else the library would flush once more at the exit, and try for ever.
    destination.destroy();
  };
  const log = pino({ level: config.logLevel, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  // A write on its way is not flushed but lost at the exit, and one that fails only then would be tried for ever.
  const written = async (): Promise<void> => {
    if (isGone || !log.isLevelEnabled('info')) return;
    await new Promise<void>((resolve) => {
      destination.once('drain', resolve).once('error', resolve);
      systemClock.after(logWrittenMs, resolve);
    });
  };
  return { log, flush, written };
}

/**
 * A throw that nobody caught leaves the process in a state nobody knows: what was acknowledged is on disk, so it ends. A
 * plugin's was thrown outside every call of the platform's, which therefore goes on: it is told by the plugin's name.
 */
function exitOnBugs({ log, flush }: Pick<Logger, 'log' | 'flush'>, blame: Blame): (error: Error) => void {
  const exit = (kind: string, error: unknown): never => {
    log.fatal({ err: error }, kind);
    flush();
    process.exit(1);
  };
  const judge = (kind: string) => (error: unknown): void => {
    // Not ours to catch, and not a bug of ours: what it cost is one append in flight, which is settled by its id.
    if (isStrayAppendReply(error)) {
      log.warn('the event log replied to an append after its timeout');
      return;
    }
    // The embedded log is about to tell its failure itself, with the reason.
    if (isStrayCommitFailure(error)) return;
    const plugin = blame(error);
    if (plugin === undefined) exit(kind, error);
    else log.error({ plugin, error: shown(error) }, `${kind} of a plugin`);
  };
  process.on('uncaughtException', judge('uncaught exception'));
  process.on('unhandledRejection', judge('unhandled rejection'));
  return (error) => {
    if (!(error instanceof StartError)) exit('the log or the read models failed', error);
    log.fatal(error.message);
    flush();
    process.exit(error instanceof StartError ? error.exitCode : 1);
  };
}

/** A plugin's error is a foreign object: looking at it may throw. */
function shown(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : String(error);
  } catch {
    return 'an error that cannot be printed';
  }
}

/** The first signal drains, also during the start; the second one ends the process at once. */
function stopOnSignal(starting: Promise<RunningServer>, stopping: AbortController, { log, flush, written }: Logger): void {
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
    // What still runs past it is abandoned as by a kill, which loses nothing acknowledged.
    systemClock.after(shutdownMs - exitMarginMs, () => { leave('stopped before all work was finished'); });
    starting.then((server) => server.close()).then(() => { leave('stopped'); }, (error: unknown) => {
      if (error === stopping.signal.reason) {
        leave('stopped before the start was finished');
        return;
      }
      log.error({ err: error }, 'could not stop in order');
      flush();
      process.exit(1);
    });
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
