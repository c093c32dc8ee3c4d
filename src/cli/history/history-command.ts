import type { Json } from '../../base/json.ts';
import { listOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { usageError } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';
import { entryText, type Colours } from './entry-text.ts';
import { pathOfType } from './type-path.ts';

export type HistoryOptions = ConnectionOptions & {
  readonly limit?: string | undefined;
  readonly uid?: string | undefined;
  readonly output?: string | undefined;
};

const limitDefault = 20;
const pageMax = 500;

/**
 * Prints the last events of the objects that have or had this name, newest first. With `uid`, prints only the events of
 * the object with this uid.
 */
export async function printHistory(
  type: string,
  name: string,
  options: HistoryOptions,
  context: CommandContext,
): Promise<void> {
  const { output = 'text', uid } = options;
  if (output !== 'text' && output !== 'json') throw usageError('--output must be text or json');
  const limit = limitOf(options.limit);
  const { client } = await connect(options, context);
  const path = [...(await pathOfType(client, type)), name, 'history'];
  const entries = await read(client, { path, limit, query: uid === undefined ? {} : { uid } });
  if (output === 'json') {
    context.output.write(`${JSON.stringify(entries, undefined, 2)}\n`);
    return;
  }
  const colours = coloursFor(context);
  context.output.write(entries.map((entry) => entryText(entry, colours)).join('\n'));
}

function limitOf(text = String(limitDefault)): number {
  if (/^[1-9]\d{0,8}$/u.test(text)) return Number(text);
  throw usageError('--limit must be a whole number of at least 1, with at most 9 digits');
}

type Asked = {
  readonly path: readonly string[];
  readonly limit: number;
  readonly query: Readonly<Record<string, string>>;
};

/** Reads entries page by page, because a page may have fewer entries than requested. */
async function read(client: ServerClient, { path, limit, query }: Asked): Promise<readonly Json[]> {
  const entries: Json[] = [];
  let next: string | undefined;
  do {
    const count = String(Math.min(limit - entries.length, pageMax));
    const token: Readonly<Record<string, string>> = next === undefined ? {} : { continue: next };
    const asked = { ...query, sort: 'position,desc', limit: count, ...token };
    const page = await client.send({ method: 'GET', path, query: asked });
    entries.push(...listOf(page, 'items'));
    next = textOf(page, 'metadata', 'continue');
  } while (next !== undefined && entries.length < limit);
  return entries;
}

/** Returns `coloured` if standard output is a terminal and NO_COLOR is unset or empty. */
export function coloursFor({ output, variables }: CommandContext): Colours {
  return output.isTTY === true && (variables['NO_COLOR'] ?? '') === '' ? 'coloured' : 'plain';
}
