import { labelNameLengthMax, typeNamesMax } from '../../limits/objects.ts';
import { shortJson } from '../schema/schema-violations.ts';

/** Kubernetes' form of the names of resources. Users type these names in commands of tools such as kubectl. */
export const resourceForm = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/u;
export const resourceRule =
  'lowercase letters, digits and "-", starting with a letter and ending with a letter or digit';

/**
 * Decodes `shortNames` or `categories`, which are lists of distinct names. Appends every problem to `problems` and
 * returns the valid names.
 */
export function decodeNames(member: string, input: unknown, problems: string[]): readonly string[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > typeNamesMax) {
    problems.push(`${member}: must be an array of at most ${String(typeNamesMax)} names`);
    return [];
  }
  const names: string[] = [];
  for (const [index, name] of Array.from<unknown>(input).entries()) {
    const problem = nameProblem(name, names);
    if (problem !== undefined) problems.push(`${member}[${String(index)}]: ${problem}, is ${shortJson(name)}`);
    else if (typeof name === 'string') names.push(name);
  }
  return names;
}

function nameProblem(name: unknown, earlier: readonly string[]): string | undefined {
  if (typeof name !== 'string' || !resourceForm.test(name)) return `must be ${resourceRule}`;
  if (name.length > labelNameLengthMax) return `must be at most ${String(labelNameLengthMax)} characters`;
  return earlier.includes(name) ? 'must not appear twice' : undefined;
}
