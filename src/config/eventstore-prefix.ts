import { eventStorePrefixLengthMax } from '../limits/settings.ts';

/**
 * The default prefix of a platform's stream names in EventStoreDB. The prefix distinguishes these streams from the
 * streams of other platforms and programs in the same database.
 */
export const eventStorePrefixDefault = 'ledgerplane-';

const prefix = /^[a-z0-9](?:[a-z0-9._-]*-)?$/iu;

/**
 * Returns the problem of a prefix; undefined if the prefix is valid. In a stream name, a category such as `object`
 * follows the prefix. A prefix ends with a dash, and no category contains a dash. So two logs have different streams
 * even if one prefix starts with the other.
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
