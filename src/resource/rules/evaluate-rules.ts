import { deepEqual } from '../../base/json.ts';
import { isList, isObject } from '../../base/guards.ts';
import { escapeToken } from '../../base/reference-token.ts';
import { validationErrorsMax } from '../../limits/requests.ts';
import type { RuledChange, SchemaViolation, Violation } from '../type/resource-type.ts';
import type { CompiledRule } from './compile-rule.ts';
import type { RuleNode, RulePart } from './rule-tree.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the violations of rules that a write adds. For a value that the write does not change, only rules that read
 * the old value are checked. Stops after the value with which the violations reach `validationErrorsMax`.
 */
export function ruleViolations(root: RuleNode, change: RuledChange): readonly Violation[] {
  const violations: Violation[] = [];
  const old = { value: change.old, pointer: '' };
  visit(root, { value: change.object, pointer: '', old, before: change.old }, { change, violations });
  return violations;
}

type Visited = {
  readonly value: unknown;
  readonly pointer: string;
  /**
   * The old value that corresponds to the value, for rules that read `oldSelf`. `value` is undefined without an old
   * value.
   */
  readonly old: { readonly value: unknown; readonly pointer: string };
  /** The old value at the same pointer, which shows whether the write changes the value. */
  readonly before: unknown;
};

type Visit = {
  readonly change: RuledChange;
  readonly violations: Violation[];
};

function visit(node: RuleNode, visited: Visited, context: Visit): void {
  const { value, pointer } = visited;
  if (value === undefined || value === null || context.violations.length >= validationErrorsMax) return;
  let unchanged: boolean | undefined;
  const isUnchanged = (): boolean => (unchanged ??= deepEqual(visited.before, value));
  if (node.rules.length > 0 && !isUnsound(context.change.tolerated, pointer))
    for (const rule of node.rules) {
      const detail = newDetail(rule, { ...visited, isUnchanged }, context.change);
      if (detail !== undefined) context.violations.push({ pointer: `${pointer}${rule.pointer}`, detail });
    }
  for (const part of node.parts) {
    if (isList(value)) visitItems(part, value, visited, context);
    else if (isObject(value)) visitMembers(part, value, visited, context);
  }
}

type Evaluated = Visited & { readonly isUnchanged: () => boolean };

/**
 * Returns the detail of a violation; undefined if there is no violation, or if the write does not add the violation.
 */
function newDetail(rule: CompiledRule, evaluated: Evaluated, change: RuledChange): string | undefined {
  if (rule.isTransition) return transitionDetail(rule, evaluated, change);
  const { value, before, pointer, isUnchanged } = evaluated;
  const detail = rule.evaluate(value, undefined);
  if (detail === undefined || before === undefined || before === null) return detail;
  if (isUnchanged()) return undefined;
  // A write of the status also runs the rules of the whole object. A rule that failed for the stored object with the
  // same detail does not refuse the write.
  const isRootOfStatus = pointer === '' && change.part === 'status' && !isUnsound(change.oldFaults, '');
  return isRootOfStatus && rule.evaluate(before, undefined) === detail ? undefined : detail;
}

function transitionDetail(rule: CompiledRule, { value, old }: Visited, change: RuledChange): string | undefined {
  if (old.value === undefined || old.value === null)
    return rule.declaration.optionalOldSelf === true ? rule.evaluate(value, undefined) : undefined;
  return isUnsound(change.oldFaults, old.pointer) ? undefined : rule.evaluate(value, old.value);
}

function visitItems(part: RulePart, items: readonly unknown[], visited: Visited, context: Visit): void {
  const { pointer, old, before } = visited;
  if (part.items === undefined) return;
  const correlate = part.keys === undefined ? undefined : correlation(part.keys, old.value);
  for (const [index, value] of items.entries()) {
    const at = correlate?.(value);
    visit(
      part.items,
      {
        value,
        pointer: `${pointer}/${String(index)}`,
        old: {
          value: at === undefined || !isList(old.value) ? undefined : old.value[at],
          pointer: `${old.pointer}/${String(at ?? '')}`,
        },
        before: isList(before) ? before[index] : undefined,
      },
      context,
    );
  }
}

/** Returns a function that finds the index of the old item with the same keys. */
function correlation(keys: readonly string[], old: unknown): (item: unknown) => number | undefined {
  const indexes = new Map<string, number>();
  if (isList(old)) for (const [index, item] of old.entries()) indexes.set(identityOf(keys, item), index);
  return (item) => indexes.get(identityOf(keys, item));
}

function identityOf(keys: readonly string[], item: unknown): string {
  return JSON.stringify(keys.map((key) => (isObject(item) && Object.hasOwn(item, key) ? item[key] : null)));
}

function visitMembers(part: RulePart, value: Members, visited: Visited, context: Visit): void {
  const { pointer, old, before } = visited;
  const visitMember = (node: RuleNode, member: string): void => {
    if (pointer === '' && context.change.part === 'status' && member !== 'status') return;
    visit(
      node,
      {
        value: memberOf(value, member),
        pointer: `${pointer}/${escapeToken(member)}`,
        old: {
          value: part.isAtomic ? undefined : memberOf(old.value, member),
          pointer: `${old.pointer}/${escapeToken(member)}`,
        },
        before: memberOf(before, member),
      },
      context,
    );
  };
  for (const [member, node] of part.members) visitMember(node, member);
  if (part.additional === undefined) return;
  for (const member of Object.keys(value))
    if (!part.declared.has(member) && !(pointer === '' && identity.has(member))) visitMember(part.additional, member);
}

const identity: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function memberOf(value: unknown, member: string): unknown {
  return isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
}

/** Keywords that affect neither the type of a value in rules nor the cost of a rule. */
const harmless: ReadonlySet<string> = new Set([
  'pattern',
  'format',
  'minLength',
  'minItems',
  'minProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'contains',
  'not',
  'additionalProperties',
  'unevaluatedProperties',
]);
/** Keywords that limit the number of values within a value. */
const counts: ReadonlySet<string> = new Set(['maxItems', 'maxProperties']);

/**
 * Whether the value at a pointer violates the schema in such a way that its rules must not run. Rules rely on the types
 * and bounds of the schema.
 */
function isUnsound(violations: readonly SchemaViolation[], pointer: string): boolean {
  return violations.some(
    ({ pointer: at, keyword }) =>
      (!harmless.has(keyword) && isWithin(at, pointer)) || (counts.has(keyword) && isWithin(pointer, at)),
  );
}

/** Whether a pointer is equal to `above` or below `above`. */
function isWithin(pointer: string, above: string): boolean {
  return pointer === above || pointer.startsWith(`${above}/`);
}
