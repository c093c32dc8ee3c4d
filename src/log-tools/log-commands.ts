import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MessageChannel } from 'node:worker_threads';

import { messageOf } from '../base/error-message.ts';
import { verifierKeys } from '../cli/audit/verifier-keys.ts';
import { CommandFailure, usageError } from '../cli/failure.ts';
import { printable } from '../cli/text-table.ts';
import type { LogCommands, LogCopyOptions, LogInfoOptions, LogOptions } from '../cli/log-commands.ts';
import type { CommandContext } from '../cli/command-context.ts';
import { readEnvironment } from '../config/environment.ts';
import { StartError } from '../base/start-error.ts';
import { takeDataDir } from '../disk/data-dir.ts';
import { resourceFailure } from '../disk/resource-failure.ts';
import { refuseFullDisk } from '../disk/start-space.ts';
import { copyLog } from './log-copy.ts';
import { keptCheckpoint, type KeptCheckpoint } from './log-checkpoint.ts';
import { LogCopyError } from './log-copy-cursor.ts';
import { EpochRefusedError, startRestoredEpoch } from './log-epoch.ts';
import { isSameLocation, logLocation, withoutCredentials, type LogLocation } from './log-location.ts';
import { describeLog } from './log-survey.ts';
import { isStrayAppendReply } from '../log/eventstore/eventstore-stray.ts';
import { UnsuitableLogError } from '../log/founded-log.ts';
import { LogCorruptError, LogRefusedError, type EventLog } from '../log/log.ts';
import { openLog } from '../server/open-log.ts';

/** The commands on logs. No server may have an embedded log open at the same time. */
export const logCommands: LogCommands = {
  copy: async ({ from, to, fromPrefix, toPrefix, inFlightMax }: LogCopyOptions, context) => {
    const settings = settingsOf(context);
    const source = placeOf('--from', from, settings, fromPrefix);
    const target = placeOf('--to', to, settings, toPrefix);
    if (isSameLocation(source, target))
      throw new CommandFailure('the source and the target are the same log', refusedExitCode);
    await withLogs([source, target], context, async (logs) => {
      if (target.eventLog.kind === 'embedded') refuseFullDisk(target.dataDir);
      const copied = await copyLog({
        source: await logs.open(source, { mustExist: true }),
        openTarget: async () => logs.open(target, { mustExist: false }),
        inFlightMax,
        clock: context.clock,
        uuid: randomUUID,
        signal: logs.signal,
        print: (line) => {
          context.stderr.write(`${line}\n`);
        },
      });
      const { events, logId, epoch, written } = copied;
      context.output.write(
        `${target.shown} ${written ? 'is now' : 'was already'} a complete copy of ${source.shown}: ` +
          `${events.toString()} events, log ${logId}, epoch ${epoch.toString()}\n`,
      );
    });
  },

  startEpoch: async ({ log }: LogOptions, context) => {
    const place = requestedLocation(log, context);
    await withLogs([place], context, async (logs) => {
      if (place.eventLog.kind === 'embedded') refuseFullDisk(place.dataDir);
      const { logId, epoch } = await startRestoredEpoch(await logs.open(place, { mustExist: true }), {
        clock: context.clock,
        uuid: randomUUID,
        signal: logs.signal,
      });
      context.output.write(`${place.shown}: log ${logId} is in epoch ${epoch.toString()}\n`);
    });
  },

  describe: async ({ log, checkpoint, keys }: LogInfoOptions, context) => {
    const kept = checkpoint === undefined ? undefined : checkpointIn(checkpoint, keys, context);
    const place = requestedLocation(log, context);
    await withLogs([place], context, async (logs) => {
      const lines = await describeLog(await logs.open(place, { mustExist: true }), {
        clock: context.clock,
        signal: logs.signal,
        checkpoint: kept,
        print: (line) => {
          context.stderr.write(`${line}\n`);
        },
      });
      const rows = [['log', place.shown], ...lines];
      context.output.write(rows.map(([name = '', value = '']) => `${name.padEnd(9)} ${value}\n`).join(''));
    });
  },
};

const refusedExitCode = 2;

function settingsOf({ folder, variables }: CommandContext): {
  readonly environment: ReturnType<typeof readEnvironment>;
  readonly folder: string;
} {
  return { environment: readEnvironment(folder, variables), folder };
}

function requestedLocation(log: string | undefined, context: CommandContext): LogLocation {
  const settings = settingsOf(context);
  return placeOf(
    log === undefined ? 'EVENT_LOG' : '--log',
    log ?? settings.environment['EVENT_LOG'] ?? 'embedded:',
    settings,
  );
}

function placeOf(option: string, words: string, settings: ReturnType<typeof settingsOf>, prefix?: string): LogLocation {
  try {
    return logLocation(option, words, settings, prefix);
  } catch (error) {
    throw failureOf(error, []);
  }
}

function checkpointIn(path: string, keys: readonly string[], { folder }: CommandContext): KeptCheckpoint {
  let text: string;
  try {
    text = readFileSync(resolve(folder, path), 'utf8');
  } catch (error) {
    throw usageError(`--checkpoint: ${printable(path)} cannot be read: ${printable(messageOf(error))}`);
  }
  const kept = keptCheckpoint(text, keys.length === 0 ? [] : verifierKeys(keys, folder));
  if (typeof kept === 'string') throw usageError(`--checkpoint: ${printable(path)} ${kept}`);
  return kept;
}

type OpenLogs = {
  /** Aborts after a fatal error of a log, or after an uncaught error. */
  readonly signal: AbortSignal;
  readonly open: (place: LogLocation, options: { readonly mustExist: boolean }) => Promise<EventLog>;
};

/** Runs the work, then closes the opened logs. Converts errors to messages for the user. */
async function withLogs(
  places: readonly LogLocation[],
  context: CommandContext,
  work: (logs: OpenLogs) => Promise<void>,
): Promise<void> {
  const locked = new Map<string, { release(): Promise<void> }>();
  const opened: EventLog[] = [];
  const ending = new AbortController();
  // An open port keeps the process alive while an unavailable log is retried. Timers do not.
  const { port1 } = new MessageChannel();
  port1.on('message', () => undefined);
  const open: OpenLogs['open'] = async (place, { mustExist }) => {
    if (place.eventLog.kind === 'embedded') await lock(place, mustExist, locked);
    let wasUnreachable = false;
    const { log } = await openLog(place, {
      clock: context.clock,
      onFatal: (error) => {
        ending.abort(new LogCopyError('failed', `${place.shown}: ${error.message}`, { cause: error }));
      },
      onState: (state) => {
        // The first connection is not reported.
        if (!state.reachable || wasUnreachable)
          context.stderr.write(
            `${place.shown} is ` +
              `${state.reachable ? 'available again' : `unavailable: ${withoutCredentials(state.reason, places)}`}\n`,
          );
        wasUnreachable = !state.reachable;
      },
    });
    opened.push(log);
    return log;
  };
  // A lost reply causes an uncaught error in the driver. The error is ignored, because the appends in flight still get
  // an outcome. Any other uncaught error ends the command.
  const onStray = (error: unknown): void => {
    if (!isStrayAppendReply(error)) ending.abort(error);
  };
  process.on('uncaughtException', onStray).on('unhandledRejection', onStray);
  try {
    await work({ signal: ending.signal, open });
  } catch (error) {
    throw failureOf(error, places);
  } finally {
    process.off('uncaughtException', onStray).off('unhandledRejection', onStray);
    for (const log of opened) await log.close();
    for (const held of locked.values()) await held.release();
    port1.close();
  }
}

async function lock(
  { dataDir, shown }: LogLocation,
  mustExist: boolean,
  locked: Map<string, { release(): Promise<void> }>,
): Promise<void> {
  if (locked.has(dataDir)) return;
  if (mustExist && !existsSync(join(dataDir, 'log', 'data.mdb')))
    throw new StartError(`${shown} has no log`, { exitCode: refusedExitCode });
  locked.set(dataDir, await takeDataDir(dataDir));
}

/** Converts an error into a message without a stack or credentials. */
function failureOf(error: unknown, places: readonly LogLocation[]): CommandFailure {
  const failed = resourceFailure(error);
  if (failed !== undefined) return new CommandFailure(withoutCredentials(failed.message, places), failed.exitCode);
  const message = messageOf(error);
  const isRefusal =
    error instanceof LogCopyError
      ? error.kind === 'refused'
      : [StartError, EpochRefusedError, UnsuitableLogError, LogRefusedError, LogCorruptError].some(
          (kind) => error instanceof kind,
        );
  return new CommandFailure(withoutCredentials(message, places), isRefusal ? refusedExitCode : 1);
}
