import { otherWords } from '../../resource/schema/suggestions.ts';

/** Returns the problems of members that are not in `known`. `at`: the place of the declaration, for messages. */
export function unknownMembers(
  declared: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  at: string,
): readonly string[] {
  return Object.keys(declared)
    .filter((member) => !known.has(member))
    .map((member) => `${at}.${member}: is not known${otherWords(member, [...known])}`);
}
