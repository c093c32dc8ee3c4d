import { kindOf } from './index-key.ts';
import { otherWords } from '../schema/suggestions.ts';
import type { ResourceObject } from '../object/object.ts';
import type { IndexValueType } from './resource-type.ts';
import { shortJson } from '../schema/schema-violations.ts';

/** A declared index (seed 2.6). Without `indexFunc`, the name is the dotted path of the value. */
export type IndexSpec = {
  readonly name: string;
  readonly type?: IndexValueType | undefined;
  readonly order?: 'ASC' | 'DESC' | undefined;
  readonly unique?: boolean | undefined;
  readonly multi?: boolean | undefined;
  readonly indexFunc?: ((object: ResourceObject) => unknown) | undefined;
};

/** Names that a selector can contain without escapes. */
const indexName = /^[^\s=!<>^(),\\\p{Cc}]{1,253}$/u;
const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
const isOneOf =
  (values: readonly unknown[]) =>
  (value: unknown): boolean =>
    value === undefined || values.includes(value);
const rules: Readonly<Record<string, { readonly valid: (value: unknown) => boolean; readonly expected: string }>> = {
  name: {
    valid: (value) => typeof value === 'string' && indexName.test(value),
    expected: 'a string of 1 to 253 characters without spaces and without = ! < > ^ ( ) , \\',
  },
  type: {
    valid: isOneOf(['string', 'number', 'boolean', 'timestamp']),
    expected: '"string", "number", "boolean" or "timestamp"',
  },
  order: { valid: isOneOf(['ASC', 'DESC']), expected: '"ASC" or "DESC"' },
  unique: { valid: isFlag, expected: 'true or false' },
  multi: { valid: isFlag, expected: 'true or false' },
  indexFunc: { valid: (value) => value === undefined || typeof value === 'function', expected: 'a function' },
};

/**
 * Decodes a declared index. Returns undefined if the declaration has problems. `place`: the location of the declaration
 * for messages.
 */
export function decodeIndexSpec(raw: unknown, place: string, problems: string[]): IndexSpec | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    problems.push(`${place}: must be an object, is ${kindOf(raw)}`);
    return undefined;
  }
  const spec = raw as Readonly<Record<string, unknown>>;
  const before = problems.length;
  for (const [member, { valid, expected }] of Object.entries(rules)) {
    if (!valid(spec[member])) problems.push(`${place}.${member}: must be ${expected}, is ${shortJson(spec[member])}`);
  }
  for (const member of Object.keys(raw))
    if (!Object.hasOwn(rules, member))
      problems.push(
        `${place}.${member.slice(0, 64)}: is not known${otherWords(member.slice(0, 64), Object.keys(rules))}`,
      );
  return problems.length === before ? copyOf(raw as IndexSpec) : undefined;
}

/** Copies the declaration, so that later changes by the plugin have no effect. */
function copyOf({ name, type, order, unique, multi, indexFunc }: IndexSpec): IndexSpec {
  return { name, type, order, unique, multi, indexFunc };
}
