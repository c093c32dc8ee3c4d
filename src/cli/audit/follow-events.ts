import { delay, type Clock, type Timer } from '../../base/clock.ts';
import { decodeJson, type Json } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect } from '../connection.ts';
import { commandError, type CommandFailure, ConnectionFailure, RefusalFailure, usageError } from '../failure.ts';
import type { Call, ServerClient } from '../server-client.ts';
import { printable } from '../text-table.ts';
import { conditionsOf, eventsPath, limitOf, printerFor, selectorOf, type EventOptions } from './event-query.ts';

export type FollowOptions = EventOptions & {
  readonly since?: string;
  readonly limit?: string;
};

/**
 * The delay before the first attempt to connect again. Each failed attempt doubles the delay, up to `longestWaitMs`.
 */
const firstWaitMs = 250;
const longestWaitMs = 30_000;
/** A connection that receives no data for this time is treated as lost. The server sends a keep-alive every 10 s. */
const silenceMs = 30_000;

/**
 * Prints events as they are appended, beginning after the position `since` or at the present end of the log. Ends after
 * `limit` events, or when the command is interrupted.
 */
export async function followEvents(options: FollowOptions, context: CommandContext): Promise<void> {
  const limit = options.limit === undefined ? Infinity : limitOf(options.limit);
  const print = printerFor(options, context);
  const { since } = options;
  if (since !== undefined && !/^\d{1,30}$/u.test(since)) throw usageError('--since must be a position of the log');
  const { client, domain } = await connect(options, context);
  const path = eventsPath(domain);
  const head = await headOf(client, path);
  const where = await conditionsOf(options, { client, path });
  let left = limit;
  for await (const event of changes(client, { path, begin: since ?? head, where }, context)) {
    print(event);
    left -= 1;
    if (left <= 0) return;
  }
}

type Followed = {
  readonly path: readonly string[];
  readonly begin: string;
  readonly where: readonly string[];
};

type Progress = {
  /** All selected events up to this position have been received. */
  position: string;
  /** The number of attempts to connect since data was last received, at most `attemptsMax`. */
  attempts: number;
};

/**
 * Yields the events after a position, each event once. When a watch ends, the next watch begins after the last received
 * position, as soon as the server responds.
 */
async function* changes(client: ServerClient, followed: Followed, context: CommandContext): AsyncGenerator<Json> {
  const progress: Progress = { position: followed.begin, attempts: 0 };
  for (;;) {
    yield* untilItEnds(client, followed, { context, progress });
    await delay(context.clock, Math.min(firstWaitMs * 2 ** progress.attempts, longestWaitMs));
    progress.attempts = Math.min(progress.attempts + 1, attemptsMax);
  }
}

type Follower = {
  readonly context: CommandContext;
  readonly progress: Progress;
};

/** Yields the events of one watch. @throws CommandFailure for a failure that retries cannot resolve. */
async function* untilItEnds(
  client: ServerClient,
  { path, where }: Followed,
  { context: { clock, stderr }, progress }: Follower,
): AsyncGenerator<Json> {
  const resourceVersion = progress.position;
  const query = { ...selectorOf(where), watch: 'true', allowWatchBookmarks: 'true', resourceVersion };
  try {
    for await (const { type, object } of watched(client, { method: 'GET', path, query }, clock)) {
      if (progress.attempts > 0) stderr.write('ledgerplane: connected again\n');
      progress.attempts = 0;
      progress.position = textOf(object, 'metadata', 'resourceVersion') ?? progress.position;
      if (type === 'ADDED') yield object;
    }
  } catch (error) {
    const { position, attempts } = progress;
    const { message } = passing(error, position);
    if (attempts === 0) stderr.write(`ledgerplane: ${message}: continuing after position ${position} ${whenItIs}\n`);
  }
}

const whenItIs = 'as soon as the server responds';
/** The maximum of `Progress.attempts`, at which the delay is already `longestWaitMs`. */
const attemptsMax = 10;

type Change = {
  readonly type: string;
  readonly object: Json;
};

const signOfLife: Change = { type: '', object: {} };

/** Yields the changes and keep-alives of one watch. @throws ConnectionFailure or RefusalFailure when the watch ends. */
async function* watched(client: ServerClient, call: Call, clock: Clock): AsyncGenerator<Change, never> {
  for await (const line of linesUntilSilence(client, call, clock))
    yield line.length === 0 ? signOfLife : changeOf(line);
  throw new ConnectionFailure('the server has ended the watch');
}

/** Yields the lines of the response. @throws ConnectionFailure when the server has sent no data for `silenceMs`. */
async function* linesUntilSilence(client: ServerClient, call: Call, clock: Clock): AsyncGenerator<Uint8Array> {
  const silence = new AbortController();
  const begin = (): Timer =>
    clock.after(silenceMs, () => {
      silence.abort();
    });
  let timer = begin();
  try {
    for await (const line of client.lines({ ...call, signal: silence.signal })) {
      timer.cancel();
      yield line;
      timer = begin();
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    throw new ConnectionFailure(`the server sent no data for ${String(silenceMs / 1_000)} s`);
  } finally {
    timer.cancel();
  }
}

/**
 * Returns the failure if a later attempt may succeed.
 *
 * @throws CommandFailure for any other failure.
 */
function passing(error: unknown, position: string): CommandFailure {
  if (error instanceof ConnectionFailure) return error;
  if (!(error instanceof RefusalFailure)) throw error;
  if (error.status >= 500 || error.status === 408 || error.status === 429) return error;
  throw commandError(`cannot continue after position ${position}: ${error.message}`);
}

async function headOf(client: ServerClient, path: readonly string[]): Promise<string> {
  const query = { limit: '1', sort: 'position,desc' };
  return textOf(await client.send({ method: 'GET', path, query }), 'metadata', 'resourceVersion') ?? '0';
}

/** Decodes a line of a watch. @throws RefusalFailure if the line is an error, which ends the watch. */
function changeOf(line: Uint8Array): Change {
  const decoded = decodeJson(line, { depthMax: jsonDepthMax });
  const type = decoded.ok ? textOf(decoded.value, 'type') : undefined;
  const object = decoded.ok ? memberOf(decoded.value, 'object') : undefined;
  if (type === undefined || object === undefined) throw commandError('the server sent a line that is not an event');
  if (type !== 'ERROR') return { type, object };
  const status = Number(memberOf(object, 'code'));
  throw new RefusalFailure(printable(textOf(object, 'message') ?? 'the watch failed'), status);
}
