import { isList, isObject } from '../../base/guards.ts';
import { nameLengthMax, referenceFieldLengthMax, referencesPerTypeMax } from '../../limits/objects.ts';
import { shortJson } from '../schema/schema-violations.ts';
import { otherWords } from '../schema/suggestions.ts';
import type { Schema } from '../schema/schema-check.ts';
import { groupOfKey, isTypeKey, typeKey } from '../type/index-entry.ts';
import { isReservedGroup } from '../type/names.ts';
import { fieldProblem, type FieldSchema } from './reference-field.ts';
import { type OnDelete, type OnMissing, type ReferenceDeclaration } from './reference-declaration.ts';

const members = ['field', 'to', 'onMissing', 'onDelete'];
const missingPolicies: readonly unknown[] = ['refuse', 'allow'] satisfies readonly OnMissing[];
const deletePolicies: readonly unknown[] = ['refuse', 'orphan', 'cascade', 'clear'] satisfies readonly OnDelete[];
const fieldForm = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/u;
/** The maximum length of a type's key: a plural of 63 characters, a dot, and a group. */
const typeKeyLengthMax = nameLengthMax + 64;

export type ReferringType = {
  readonly schema: { readonly ok: false } | { readonly ok: true; readonly schema: Schema };
  readonly declarer: { readonly bundled: boolean; readonly domain: string };
};

/** Decodes the references of a declared type. Appends every problem to `problems`, and returns the valid references. */
export function decodeReferences(
  declaration: Readonly<Record<string, unknown>>,
  { schema, declarer }: ReferringType,
  problems: string[],
): readonly ReferenceDeclaration[] {
  const input = declaration['references'];
  if (input === undefined) return [];
  if (!isList(input) || input.length > referencesPerTypeMax) {
    problems.push(`references: must be an array of at most ${String(referencesPerTypeMax)} references`);
    return [];
  }
  const type: Referring = {
    schema: schema.ok ? schema.schema : undefined,
    statusSubresource: declaration['statusSubresource'] === true,
    mayFollow: (to) => declarer.bundled || !isReservedGroup(groupOfKey(to), declarer.domain),
  };
  const decoded: ReferenceDeclaration[] = [];
  for (const [index, reference] of input.entries()) {
    const found = problemsOf(reference, decoded, type);
    problems.push(...found.map((problem) => `references[${String(index)}]${problem}`));
    if (found.length === 0) decoded.push(copyOf(reference as ReferenceDeclaration));
  }
  return decoded;
}

type Referring = FieldSchema & {
  /** Whether a reference to objects of the type `to` may have effects other than `orphan`. */
  readonly mayFollow: (to: string) => boolean;
};

/** Copies the declaration, so that later changes by the plugin have no effect. */
function copyOf({ field, to, onMissing, onDelete }: ReferenceDeclaration): ReferenceDeclaration {
  return { field, to: typeKey(to), onMissing, onDelete };
}

function problemsOf(reference: unknown, earlier: readonly ReferenceDeclaration[], type: Referring): readonly string[] {
  if (!isObject(reference)) return [`: must be an object, is ${shortJson(reference)}`];
  const { field, to, onDelete } = reference;
  const unknown = Object.keys(reference)
    .filter((member) => !members.includes(member))
    .map((member) => `.${member.slice(0, 64)}: is not known${otherWords(member.slice(0, 64), members)}`);
  const problems = [...unknown, ...targetProblems(to), ...policyProblems(reference, type)];
  if (typeof field !== 'string' || field.length > referenceFieldLengthMax || !fieldForm.test(field))
    return [
      ...problems,
      `.field: must be the dotted path of a field with at most ${String(referenceFieldLengthMax)} characters, such ` +
        `as spec.groupName, is ${shortJson(field)}`,
    ];
  if (earlier.some((other) => other.field === field)) problems.push(`.field: ${field} must not be declared twice`);
  const found = fieldProblem(field, { ...type, isCleared: onDelete === 'clear' });
  return found === undefined ? problems : [...problems, `.field: ${found}`];
}

function policyProblems(
  { to, onMissing, onDelete }: Readonly<Record<string, unknown>>,
  { mayFollow }: Referring,
): readonly string[] {
  const problems: string[] = [];
  if (!missingPolicies.includes(onMissing))
    problems.push(`.onMissing: must be "refuse" or "allow", is ${shortJson(onMissing)}`);
  if (!deletePolicies.includes(onDelete))
    problems.push(`.onDelete: must be "refuse", "orphan", "cascade" or "clear", is ${shortJson(onDelete)}`);
  else if (onDelete !== 'orphan' && typeof to === 'string' && !mayFollow(to))
    problems.push(`.onDelete: must be "orphan", because ${to} belongs to the platform, is ${shortJson(onDelete)}`);
  return problems;
}

function targetProblems(to: unknown): string[] {
  return typeof to === 'string' && isTypeKey(to) && to.length <= typeKeyLengthMax
    ? []
    : [`.to: must be <plural>.<group> of a type, such as linkgroups.example.com, is ${shortJson(to)}`];
}
