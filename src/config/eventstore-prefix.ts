import { eventStorePrefixLengthMax } from '../limits/settings.ts';

/** How the names of a platform's streams begin on an EventStoreDB, which it may share with other platforms and programs. */
export const eventStorePrefixDefault = 'ledgerplane-';

const prefix = /^[a-z0-9](?:[a-z0-9._-]*-)?$/iu;

/**
 * What is wrong with a prefix; undefined when nothing is. It ends with a dash, as no category holds one: so of two prefixes
 * of which one begins with the other, no stream belongs to both.
 */
export function eventStorePrefixProblem(text: string): string | undefined {
  if (text.length > eventStorePrefixLengthMax) return `must be at most ${eventStorePrefixLengthMax.toString()} characters, is ${text.length.toString()}`;
  if (text.length > 1 && prefix.test(text)) return undefined;
  return `must begin with a letter or a digit, end with - and hold nothing but letters, digits, . _ and -, is ${JSON.stringify(text)}`;
}
