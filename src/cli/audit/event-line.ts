import type { Json } from '../../base/json.ts';
import { memberOf, textOf } from '../answer-member.ts';
import type { Colours } from '../history/entry-text.ts';
import { printable } from '../text-table.ts';

const reset = '\u001b[0m';
const [green, yellow, red] = ['\u001b[32m', '\u001b[33m', '\u001b[31m'];
/**
 * The colours of event types. Other types have no colour. The command `history` shows the same colours for the
 * operations of a change.
 */
const colourOf: ReadonlyMap<string, string> = new Map([
  ['ObjectCreated', green],
  ['ObjectUpdated', yellow],
  ['ObjectDeletionRequested', red],
  ['ObjectDeleted', red],
]);
/**
 * The members of an event that are printed after the actor, each with the words that precede its value. Missing members
 * are omitted.
 */
const causes: Readonly<Record<string, string>> = {
  onBehalfOf: 'for',
  address: 'from',
  token: 'token',
  plugin: 'plugin',
  requestId: 'request',
  restoredFrom: 'restored from position',
  cause: 'because of',
};

/** Returns an event of the audit stream as one line, which ends with the counts of accesses and the causes. */
export function eventLine(event: Json, colours: Colours): string {
  const kind = shownText(event, 'event');
  const colour = colours === 'coloured' ? colourOf.get(kind) : undefined;
  const subject = `${shownText(event, 'type')}/${shownText(event, 'name')}`;
  const parts = [
    shownText(event, 'time'),
    shownText(event, 'position'),
    colour === undefined ? kind : `${colour}${kind}${reset}`,
    subject,
    `${shownText(event, 'actor')} (${shownText(event, 'verb')})`,
    ...countsOf(event),
    Object.entries(causes)
      .filter(([member]) => textOf(event, member) !== undefined)
      .map(([member, words]) => `${words} ${shownText(event, member)}`)
      .join(', '),
  ];
  return `${parts.join('  ').trimEnd()}\n`;
}

/**
 * Returns the counts of accesses, such as `3 login`, as one part of the line. Returns no part for an event without
 * counts.
 */
function countsOf(event: Json): readonly string[] {
  const counts = memberOf(memberOf(event, 'data'), 'counts');
  if (typeof counts !== 'object' || counts === null || Array.isArray(counts)) return [];
  const shown = Object.entries(counts).map(([kind, count]) => `${JSON.stringify(count)} ${printable(kind)}`);
  return shown.length === 0 ? [] : [shown.join(', ')];
}

function shownText(event: Json, member: string): string {
  return printable(textOf(event, member) ?? '-');
}
