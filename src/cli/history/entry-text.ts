import type { Json } from '../../base/json.ts';
import { listOf, memberOf, textOf } from '../answer-member.ts';
import { printable } from '../text-table.ts';

export type Colours = 'coloured' | 'plain';

const bold = '\u001b[1m';
const reset = '\u001b[0m';
/** The sign and the colour of a line that shows an operation of a JSON Patch, by the name of the operation. */
const markOf: ReadonlyMap<string, { readonly sign: string; readonly colour: string }> = new Map([
  ['add', { sign: '+', colour: '\u001b[32m' }],
  ['remove', { sign: '-', colour: '\u001b[31m' }],
  ['replace', { sign: '~', colour: '\u001b[33m' }],
]);
/** The members of an entry that are printed below its head, each with the words that precede its value. */
const causes: Readonly<Record<string, string>> = {
  onBehalfOf: 'for',
  requestId: 'request',
  address: 'from',
  token: 'token',
  plugin: 'plugin',
  restoredFrom: 'restored from position',
  cause: 'because of',
};

/** Returns an entry of a history as text, with one line for each operation of the change. */
export function entryText(entry: Json, colours: Colours): string {
  const paint = (text: string, colour: string): string => (colours === 'plain' ? text : `${colour}${text}${reset}`);
  const head = ['time', 'event', 'actor', 'verb'].map((member) => shownText(entry, member));
  const version = memberOf(entry, 'version');
  const [time, event, actor, verb] = head;
  const lines = [
    paint(`${time ?? ''}  ${event ?? ''}  version ${JSON.stringify(version)}  ${actor ?? ''} (${verb ?? ''})`, bold),
    `  ${Object.entries(causes)
      .filter(([member]) => textOf(entry, member) !== undefined)
      .map(([member, words]) => `${words} ${shownText(entry, member)}`)
      .join(', ')}`,
    `  uid ${shownText(entry, 'uid')}, position ${shownText(entry, 'position')}`,
  ];
  for (const operation of listOf(entry, 'change')) {
    const mark = markOf.get(textOf(operation, 'op') ?? '');
    // The version is omitted here because the head contains it.
    if (mark === undefined || textOf(operation, 'path') === '/metadata/version') continue;
    lines.push(paint(`  ${operationText(operation, mark.sign)}`, mark.colour));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns an operation as text. The empty path of the whole document is printed as `/`. */
function operationText(operation: Json, sign: string): string {
  const path = printable(textOf(operation, 'path') ?? '') || '/';
  const value = memberOf(operation, 'value');
  return value === undefined ? `${sign} ${path}` : `${sign} ${path} ${printable(JSON.stringify(value))}`;
}

function shownText(entry: Json, member: string): string {
  return printable(textOf(entry, member) ?? '-');
}
