import { eventStorePrefixLengthMax } from '../limits/settings.ts';

/**
 * The default prefix of a platform's stream names in EventStoreDB, which it may share with other platforms and
 * programs.
 */
export const eventStorePrefixDefault = 'ledgerplane-';

const prefix = /^[a-z0-9](?:[a-z0-9._-]*-)?$/iu;

/**
 * The problem of a prefix; undefined if it is valid. A prefix ends with a dash, and no category contains a dash. So if
 * one prefix starts with another, their streams are still disjoint.
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
