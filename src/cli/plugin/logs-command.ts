import { delay } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { isObject } from '../../base/guards.ts';
import { listOf, memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type Connection, type ConnectionOptions } from '../connection.ts';
import { ConnectionFailure } from '../failure.ts';
import { printable } from '../text-table.ts';
import { checkName } from './plugin-state.ts';

export type LogsOptions = ConnectionOptions & { readonly follow?: boolean | undefined };

/** The interval between two requests for new lines. */
const pollIntervalMs = 1_000;

/**
 * Prints the log lines of a plugin that the responding node has kept. With `follow`, also prints new lines until the
 * command is interrupted.
 */
export async function printPluginLogs(name: string, options: LogsOptions, context: CommandContext): Promise<void> {
  checkName(name);
  const connection = await connect(options, context);
  let cursor = await printPage(name, '', { connection, context });
  while (options.follow === true) {
    await delay(context.clock, pollIntervalMs);
    cursor = await printPage(name, cursor, { connection, context }).catch((error: unknown) => {
      // The server may be restarting, so the command retries. A restarted server has only the lines since its start.
      if (error instanceof ConnectionFailure) return cursor;
      throw error;
    });
  }
}

type Source = { readonly connection: Connection; readonly context: CommandContext };

/** Prints the lines after the cursor; returns the next cursor. */
async function printPage(
  name: string,
  cursor: string,
  { connection: { client, domain }, context: { output, stderr } }: Source,
): Promise<string> {
  const page = await client.send({
    method: 'GET',
    path: ['apis', `api.console.${domain}`, 'v1alpha1', 'plugins', name, 'logs'],
    query: cursor === '' ? {} : { after: cursor },
  });
  const dropped = memberOf(page, 'dropped');
  if (typeof dropped === 'number' && dropped > 0)
    stderr.write(`the server has dropped ${String(dropped)} older lines\n`);
  for (const line of listOf(page, 'items')) output.write(lineText(line));
  return textOf(page, 'cursor') ?? cursor;
}

/** Returns `<time> <level> <message> <fields>`, followed by the stacks of errors on separate lines. */
function lineText(line: Json): string {
  const fields = memberOf(line, 'fields');
  const stacks: string[] = [];
  const rest = isObject(fields)
    ? Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutStack(value, stacks)]))
    : {};
  const head = [textOf(line, 'time') ?? '', (textOf(line, 'level') ?? '').padEnd(5), textOf(line, 'message') ?? ''];
  const shown = [...head, ...(Object.keys(rest).length === 0 ? [] : [JSON.stringify(rest)])].map(printable).join(' ');
  return [shown, ...stacks].join('\n') + '\n';
}

/**
 * Returns the value without the lines of its stack, which are added to `stacks`. The stack of an error is in the member
 * `stack`. The stack of a text follows its first line.
 */
function withoutStack(value: unknown, stacks: string[]): unknown {
  if (typeof value === 'string') {
    const [first = '', ...frames] = value.split('\n');
    stacks.push(...frames.map(frameText));
    return first;
  }
  if (!isObject(value) || typeof value['stack'] !== 'string') return value;
  const { stack, ...rest } = value;
  stacks.push(...stack.split('\n').map(frameText));
  return rest;
}

function frameText(frame: string): string {
  return `    ${printable(frame).trimStart()}`;
}
