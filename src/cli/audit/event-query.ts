import type { Json } from '../../base/json.ts';
import { listOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import type { ConnectionOptions } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import { coloursFor } from '../history/history-command.ts';
import { servedPath } from '../history/type-path.ts';
import type { ServerClient } from '../server-client.ts';
import { eventLine } from './event-line.ts';

/**
 * The options of the commands that select events. Apart from `output` and the options of the connection, each option is
 * a condition. An event must meet all conditions.
 */
export type EventOptions = ConnectionOptions & {
  readonly actor?: string;
  /** The name of a user: selects events by the user, and by plugins on behalf of the user. */
  readonly byUser?: string;
  readonly type?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly verb?: string;
  readonly address?: string;
  readonly requestId?: string;
  readonly correlation?: string;
  /** Further conditions, as a selector. */
  readonly where?: string;
  readonly output?: string;
};

/**
 * The options that require a value of one field, each with the name of the field. `type` is missing, because its value
 * is looked up first.
 */
const fields = [
  ['actor', 'actor'],
  ['byUser', 'user'],
  ['name', 'name'],
  ['uid', 'uid'],
  ['verb', 'verb'],
  ['address', 'address'],
  ['requestId', 'requestId'],
  ['correlation', 'correlationId'],
] as const satisfies readonly (readonly [keyof EventOptions, string])[];

/** Returns the path of the events in the API, as segments. */
export function eventsPath(domain: string): readonly string[] {
  return ['apis', `audit.${domain}`, 'v1alpha1', 'events'];
}

type TypeLookUp = {
  readonly client: ServerClient;
  readonly path: readonly string[];
};

/**
 * Returns the conditions of the options, each in the syntax of a `fieldSelector`.
 *
 * @throws CommandFailure if the server does not serve the type, and the log has no event of the type.
 */
export async function conditionsOf(options: EventOptions, { client, path }: TypeLookUp): Promise<readonly string[]> {
  const { type, where } = options;
  const equal = fields.flatMap(([option, field]) => {
    const value = options[option];
    return value === undefined ? [] : [`${field}=${escaped(value)}`];
  });
  const ofType = type === undefined ? [] : [`type=${escaped(await typeOf(type, client, path))}`];
  return [...ofType, ...equal, ...(where === undefined ? [] : [where])];
}

/** @throws CommandFailure if the value of `option` is neither a position nor the beginning of a time. */
export function assertMoment(option: '--since' | '--until', moment: string | undefined): void {
  if (moment === undefined || /^(?:\d+$|\d{4}-\d{2}-\d{2}t)/iu.test(moment)) return;
  throw commandError(
    `${option} must be a time (RFC 3339), such as 2026-01-31T08:00:00Z, or a position of the log, ` +
      `is ${JSON.stringify(moment)}`,
  );
}

/**
 * Returns the condition that an event is at or after (`>=`), or at or before (`<=`) a moment: a position of the log or
 * a time. Returns no condition if `moment` is undefined.
 */
export function boundOf(operator: '>=' | '<=', moment: string | undefined): readonly string[] {
  if (moment === undefined) return [];
  return [`${/^\d+$/u.test(moment) ? 'position' : 'time'}${operator}${escaped(moment)}`];
}

export function selectorOf(conditions: readonly string[]): Readonly<Record<string, string>> {
  return conditions.length === 0 ? {} : { fieldSelector: conditions.join(',') };
}

/**
 * Returns `type` if an event has exactly this type, even if the server no longer serves this type. Otherwise looks up
 * `type` among the served types. An event without an object has the category of its stream as type.
 */
async function typeOf(type: string, client: ServerClient, path: readonly string[]): Promise<string> {
  const query = { ...selectorOf([`type=${escaped(type)}`]), limit: '1' };
  const found = await client.send({ method: 'GET', path, query });
  if (listOf(found, 'items').length > 0) return type;
  const served = await servedPath(client, type);
  if (served === undefined)
    throw commandError(
      `no event has the type ${JSON.stringify(type)}, and the server does not serve this type: ` +
        `write <plural>.<group>, or a category of streams, such as access`,
    );
  const [root, group = '', ...rest] = served;
  const plural = rest.at(-1) ?? '';
  return root === 'api' ? plural : `${plural}.${group}`;
}

/** Puts a backslash before each character that has a meaning in a selector. */
function escaped(value: string): string {
  return value.replaceAll(/[,=\\()]/gu, (sign) => `\\${sign}`);
}

/** Returns the number in the text. @throws CommandFailure if the text is not a whole number from 1 to 999,999,999. */
export function limitOf(text: string): number {
  if (/^[1-9]\d{0,8}$/u.test(text)) return Number(text);
  throw usageError('--limit must be a whole number of at least 1, with at most 9 digits');
}

export function printerFor({ output = 'text' }: EventOptions, context: CommandContext): (event: Json) => void {
  if (output !== 'text' && output !== 'json') throw usageError('--output must be text or json');
  const colours = coloursFor(context);
  return (event) => {
    context.output.write(output === 'json' ? `${JSON.stringify(event)}\n` : eventLine(event, colours));
  };
}
