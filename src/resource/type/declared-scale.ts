import { isObject } from '../../base/guards.ts';
import { scalePointerLengthMax } from '../../limits/objects.ts';
import { shortJson } from '../schema/schema-violations.ts';
import { otherWords } from '../schema/suggestions.ts';
import type { ScalePointers } from './resource-type.ts';

const places: ReadonlyMap<string, readonly string[]> = new Map([
  ['specReplicas', ['/spec/']],
  ['statusReplicas', ['/status/']],
  ['labelSelector', ['/spec/', '/status/']],
]);
const pointerForm = /^(?:\/(?:[^~/]|~[01])+)+$/u;

/**
 * Decodes a declared scale. Appends every problem to `problems`. Returns undefined if `input` is undefined or invalid.
 */
export function decodeScale(input: unknown, problems: string[]): ScalePointers | undefined {
  if (input === undefined) return undefined;
  if (!isObject(input)) {
    problems.push(`scale: must be an object, is ${shortJson(input)}`);
    return undefined;
  }
  const found = Object.keys(input)
    .filter((member) => !places.has(member))
    .map((member) => `${member} is not known${otherWords(member, [...places.keys()])}`);
  for (const [member, roots] of places) {
    const problem = pointerProblem(input[member], roots, member !== 'labelSelector');
    if (problem !== undefined) found.push(`${member} ${problem}`);
  }
  problems.push(...found.map((problem) => `scale: ${problem}`));
  const { specReplicas, statusReplicas, labelSelector } = input;
  if (found.length > 0 || typeof specReplicas !== 'string' || typeof statusReplicas !== 'string') return undefined;
  return typeof labelSelector === 'string'
    ? { specReplicas, statusReplicas, labelSelector }
    : { specReplicas, statusReplicas };
}

function pointerProblem(pointer: unknown, roots: readonly string[], isRequired: boolean): string | undefined {
  if (pointer === undefined && !isRequired) return undefined;
  if (typeof pointer !== 'string' || !pointerForm.test(pointer) || !roots.some((root) => pointer.startsWith(root)))
    return `must be a JSON pointer below ${rootsText(roots)}, is ${shortJson(pointer)}`;
  return pointer.length > scalePointerLengthMax
    ? `must be at most ${String(scalePointerLengthMax)} characters`
    : undefined;
}

function rootsText(roots: readonly string[]): string {
  return roots.map((root) => root.slice(0, -1)).join(' or ');
}
