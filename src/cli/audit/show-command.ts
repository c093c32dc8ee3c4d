import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { usageError } from '../failure.ts';
import { pathOfType } from '../history/type-path.ts';
import type { Call } from '../server-client.ts';
import { printable } from '../text-table.ts';

export type ShowOptions = ConnectionOptions & {
  readonly at: string;
  readonly output?: string;
};

/** Prints the state of an object at a position of the log or at a time. The object may have been deleted since. */
export async function showObject(
  type: string,
  name: string,
  options: ShowOptions,
  context: CommandContext,
): Promise<void> {
  const { at, output = 'yaml' } = options;
  if (output !== 'yaml' && output !== 'json') throw usageError('--output must be yaml or json');
  const { client } = await connect(options, context);
  const path = [...(await pathOfType(client, type)), name];
  const call: Call = { method: 'GET', path, query: { at } };
  // The server sends a refusal in the requested format, and `send` decodes only JSON. Therefore the first request is
  // for JSON.
  const object = await client.send(call);
  const text = output === 'json' ? JSON.stringify(object) : await client.text({ ...call, accept: 'application/yaml' });
  context.output.write(`${text.trimEnd().split('\n').map(printable).join('\n')}\n`);
}
