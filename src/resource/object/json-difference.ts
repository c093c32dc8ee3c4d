import { isList, isObject } from '../../base/guards.ts';
import { deepEqual } from '../../base/json.ts';
import { escapeToken } from '../../base/reference-token.ts';

/** An operation of a JSON Patch (RFC 6902), as a difference has it. */
export type DifferenceOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * The JSON Patch that turns one JSON value into another: member by member, and element by element where two arrays
 * have the same length; other arrays are replaced as a whole.
 */
export function jsonDifference(before: unknown, after: unknown, path = ''): readonly DifferenceOperation[] {
  if (deepEqual(before, after)) return [];
  if (isList(before) && isList(after) && before.length === after.length)
    return before.flatMap((element, place) => jsonDifference(element, after[place], `${path}/${String(place)}`));
  if (!isObject(before) || !isObject(after)) return [{ op: 'replace', path, value: after }];
  const operations: DifferenceOperation[] = [];
  for (const member of Object.keys(before)) {
    const inner = `${path}/${escapeToken(member)}`;
    if (Object.hasOwn(after, member)) operations.push(...jsonDifference(before[member], after[member], inner));
    else operations.push({ op: 'remove', path: inner });
  }
  for (const [member, value] of Object.entries(after))
    if (!Object.hasOwn(before, member)) operations.push({ op: 'add', path: `${path}/${escapeToken(member)}`, value });
  return operations;
}
