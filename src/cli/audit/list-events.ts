import { delay } from '../../base/clock.ts';
import { decodeJson, type Json } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { listOf, memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import { coloursFor } from '../history/history-command.ts';
import type { ServerClient } from '../server-client.ts';
import { printable } from '../text-table.ts';
import { eventLine } from './event-line.ts';

type Selecting = ConnectionOptions & {
  readonly actor?: string;
  readonly type?: string;
  readonly name?: string;
  readonly verb?: string;
  readonly output?: string;
};

export type ListOptions = Selecting & {
  readonly since?: string;
  readonly until?: string;
  readonly newest?: boolean;
  readonly limit?: string;
};

export type FollowOptions = Selecting & { readonly since?: string; readonly limit?: string };

/** The maximum number of events in a page. */
const pageMax = 500;
/** The pause before the client repeats a watch that the server has ended. */
const againMs = 1_000;

/** Prints events of the log, page by page. A page may have fewer events than the request asks for. */
export async function listEvents(options: ListOptions, context: CommandContext): Promise<void> {
  const limit = limitOf(options.limit ?? '20');
  const print = printerFor(options, context);
  const { client, domain } = await connect(options, context);
  const where = [...conditionsOf(options), ...boundOf('>=', options.since), ...boundOf('<=', options.until)];
  const asked = {
    ...(where.length === 0 ? {} : { fieldSelector: where.join(',') }),
    ...(options.newest === true ? { sort: 'position,desc' } : {}),
  };
  let left = limit;
  for (let token: string | undefined = ''; token !== undefined && left > 0;) {
    const query = { ...asked, limit: String(Math.min(left, pageMax)), ...(token === '' ? {} : { continue: token }) };
    const page: Json = await client.send({ method: 'GET', path: pathOf(domain), query });
    for (const event of listOf(page, 'items')) print(event);
    left -= listOf(page, 'items').length;
    token = textOf(page, 'metadata', 'continue');
  }
}

/**
 * Prints new events until the command is interrupted: those after `since`, by default those after the end of the log.
 */
export async function followEvents(options: FollowOptions, context: CommandContext): Promise<void> {
  const limit = options.limit === undefined ? Infinity : limitOf(options.limit);
  const print = printerFor(options, context);
  const { since } = options;
  if (since !== undefined && !/^\d{1,30}$/u.test(since)) throw usageError('--since must be a position of the log');
  const { client, domain } = await connect(options, context);
  const path = pathOf(domain);
  const begin = since ?? (await headOf(client, path));
  let left = limit;
  for await (const event of changes(client, { path, begin, where: conditionsOf(options) }, context)) {
    print(event);
    left -= 1;
    if (left <= 0) return;
  }
}

type Followed = { readonly path: readonly string[]; readonly begin: string; readonly where: readonly string[] };

/**
 * Yields the events after the position `begin`. If the server ends the watch, a new watch continues at the same
 * position.
 */
async function* changes(
  client: ServerClient,
  { path, begin, where }: Followed,
  { clock }: CommandContext,
): AsyncGenerator<Json> {
  const selector = where.length === 0 ? {} : { fieldSelector: where.join(',') };
  for (let position = begin; ;) {
    const query = { ...selector, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: position };
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

/**
 * Decodes a line of a watch. An error that a later request can avoid (503, 429) ends the watch; any other error ends
 * the command.
 */
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

function pathOf(domain: string): readonly string[] {
  return ['apis', `audit.${domain}`, 'v1alpha1', 'events'];
}

function conditionsOf(options: Selecting): readonly string[] {
  return (['actor', 'type', 'name', 'verb'] as const).flatMap((field) => {
    const value = options[field];
    return value === undefined ? [] : [`${field}=${escaped(value)}`];
  });
}

/** Returns the selector for a moment, which is a position of the log or a time. */
function boundOf(operator: '>=' | '<=', moment: string | undefined): readonly string[] {
  if (moment === undefined) return [];
  return [`${/^\d+$/u.test(moment) ? 'position' : 'time'}${operator}${escaped(moment)}`];
}

/** Escapes the characters that have a meaning in a selector. */
function escaped(value: string): string {
  return value.replaceAll(/[,=\\()]/gu, (sign) => `\\${sign}`);
}

function limitOf(text: string): number {
  if (/^[1-9]\d{0,8}$/u.test(text)) return Number(text);
  throw usageError('--limit must be a whole number from 1');
}

function printerFor({ output = 'text' }: Selecting, context: CommandContext): (event: Json) => void {
  if (output !== 'text' && output !== 'json') throw usageError('--output must be text or json');
  const colours = coloursFor(context);
  return (event) => {
    context.output.write(output === 'json' ? `${JSON.stringify(event)}\n` : eventLine(event, colours));
  };
}
