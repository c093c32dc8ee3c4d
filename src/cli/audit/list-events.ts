import type { Json } from '../../base/json.ts';
import { listOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect } from '../connection.ts';
import {
  assertMoment,
  boundOf,
  conditionsOf,
  eventsPath,
  limitOf,
  printerFor,
  selectorOf,
  type EventOptions,
} from './event-query.ts';

export type ListOptions = EventOptions & {
  readonly since?: string;
  readonly until?: string;
  readonly newest?: boolean;
  readonly limit?: string;
};

const pageMax = 500;

/**
 * Prints events of the log, page by page, because a page may have fewer events than requested. Prints a note to
 * standard error if further events match or may match.
 */
export async function listEvents(options: ListOptions, context: CommandContext): Promise<void> {
  const { since, until, newest = false } = options;
  const limit = limitOf(options.limit ?? '20');
  assertMoment('--since', since);
  assertMoment('--until', until);
  const print = printerFor(options, context);
  const { client, domain } = await connect(options, context);
  const path = eventsPath(domain);
  const where = [...(await conditionsOf(options, { client, path })), ...boundOf('>=', since), ...boundOf('<=', until)];
  const asked = { ...selectorOf(where), ...(newest ? { sort: 'position,desc' } : {}) };
  let [left, last] = [limit, 0n];
  for (let token: string | undefined = ''; token !== undefined;) {
    // Requests one event more than is printed, to find out whether there are more events.
    const query = {
      ...asked,
      limit: String(Math.min(left + 1, pageMax)),
      ...(token === '' ? {} : { continue: token }),
    };
    const page: Json = await client.send({ method: 'GET', path, query });
    const items = listOf(page, 'items');
    for (const event of items.slice(0, left)) {
      print(event);
      last = BigInt(textOf(event, 'position') ?? '0');
    }
    token = textOf(page, 'metadata', 'continue');
    const isOneMore = items.length > left;
    left -= Math.min(items.length, left);
    // A continue token without a further event means only that more events may match. The command stops, because a
    // search through further pages could read the whole log.
    if (left > 0 || (token === undefined && !isOneMore)) continue;
    context.stderr.write(noteOf(`${isOneMore ? '' : 'may '}match`, last, newest));
    return;
  }
}

/**
 * Returns the note about further events. `follow` is `match` or `may match`, and `last` is the position of the last
 * printed event.
 */
function noteOf(follow: string, last: bigint, newest: boolean): string {
  const [kind, bound, other] = newest
    ? ['older', `--until ${String(last - 1n)}`, '']
    : ['more', `--since ${String(last + 1n)}`, ', or list the newest first with --newest'];
  return `ledgerplane: ${kind} events ${follow}: list them with ${bound}, raise --limit${other}\n`;
}
