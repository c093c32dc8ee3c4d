import { delay } from '../../base/clock.ts';
import { decodeJson, type Json } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';
import { printable } from '../text-table.ts';
import { conditionsOf, eventsPath, limitOf, printerFor, selectorOf, type EventOptions } from './event-query.ts';

export type FollowOptions = EventOptions & { readonly since?: string; readonly limit?: string };

/** Before a watch that the server has ended begins again. */
const againMs = 1_000;

/** Prints events as they happen, from now on or after a position, until the command is interrupted. */
export async function followEvents(options: FollowOptions, context: CommandContext): Promise<void> {
  const limit = options.limit === undefined ? Infinity : limitOf(options.limit);
  const print = printerFor(options, context);
  const { since } = options;
  if (since !== undefined && !/^\d{1,30}$/u.test(since)) throw usageError('--since must be a position of the log');
  const { client, domain } = await connect(options, context);
  const path = eventsPath(domain);
  const begin = since ?? (await headOf(client, path));
  const where = await conditionsOf(options, { client, path });
  let left = limit;
  for await (const event of changes(client, { path, begin, where }, context)) {
    print(event);
    left -= 1;
    if (left <= 0) return;
  }
}

type Followed = { readonly path: readonly string[]; readonly begin: string; readonly where: readonly string[] };

/** The events after a position. A watch that the server has ended begins again where it was. */
async function* changes(
  client: ServerClient,
  { path, begin, where }: Followed,
  { clock }: CommandContext,
): AsyncGenerator<Json> {
  for (let position = begin; ;) {
    const query = { ...selectorOf(where), watch: 'true', allowWatchBookmarks: 'true', resourceVersion: position };
    for await (const line of client.lines({ method: 'GET', path, query })) {
      if (line.length === 0) continue;
      const { type, object } = changeOf(line);
      if (type === 'ERROR') break;
      position = textOf(object, 'metadata', 'resourceVersion') ?? position;
      if (type !== 'BOOKMARK') yield object;
    }
    await delay(clock, againMs);
  }
}

async function headOf(client: ServerClient, path: readonly string[]): Promise<string> {
  const query = { limit: '1', sort: 'position,desc' };
  return textOf(await client.send({ method: 'GET', path, query }), 'metadata', 'resourceVersion') ?? '0';
}

/** A line of a watch. An error that only a later request can repair ends the watch; any other one ends the command. */
function changeOf(line: Uint8Array): { readonly type: string; readonly object: Json } {
  const decoded = decodeJson(line, { depthMax: jsonDepthMax });
  const type = decoded.ok ? textOf(decoded.value, 'type') : undefined;
  const object = decoded.ok ? memberOf(decoded.value, 'object') : undefined;
  if (type === undefined || object === undefined)
    throw commandError('the server answered with a line that is no event');
  const code = memberOf(object, 'code');
  if (type === 'ERROR' && code !== 503 && code !== 429)
    throw commandError(printable(textOf(object, 'message') ?? 'the watch failed'));
  return { type, object };
}
