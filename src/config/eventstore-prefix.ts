import { eventStorePrefixLengthMax } from '../limits/settings.ts';

/**
 * The default prefix of stream names in EventStoreDB, which distinguishes a platform's streams from other streams in
 * the same database.
 */
export const eventStorePrefixDefault = 'ledgerplane-';

const prefix = /^[a-z0-9](?:[a-z0-9._-]*-)?$/iu;

/**
 * Returns the problem of a prefix; undefined for a valid prefix. In a stream name, the prefix precedes a category such
 * as `object`. A prefix ends with a dash, and no category contains a dash. Two logs thus have different streams even if
 * one prefix begins with the other.
 */
export function eventStorePrefixProblem(text: string): string | undefined {
  if (text.length > eventStorePrefixLengthMax)
    return `must be at most ${eventStorePrefixLengthMax.toString()} characters, is ${text.length.toString()}`;
  if (text.length > 1 && prefix.test(text)) return undefined;
  return (
    'must begin with a letter or a digit, end with - and contain only letters, digits, . _ ' +
    `and -, is ${JSON.stringify(text)}`
  );
}
