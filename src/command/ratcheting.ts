import { deepEqual } from '../base/json.ts';
import { valueAt } from '../resource/object/json-pointer.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType, SchemaRules, SchemaViolation, Violation } from '../resource/type/resource-type.ts';
import type { Part } from './command.ts';
import { membersOf } from './replacement.ts';

type Members = Readonly<Record<string, unknown>>;

export type Change = {
  readonly name: string;
  readonly generateName: string | undefined;
  /** The object's members after the write, except for apiVersion, kind and metadata. */
  readonly members: Members;
  /** The stored object; undefined for a new object. */
  readonly current: ResourceObject | undefined;
  readonly part: Part;
};

/**
 * Returns the violations of the schema that a write adds. Without such violations, returns the violations of the
 * schema's rules that the write adds.
 */
export function memberViolations(type: ResourceType, change: Change): readonly Violation[] {
  const { refused, tolerated, oldFaults } = schemaViolations(type, change);
  const { rules } = type;
  if (refused.length > 0 || rules === undefined) return refused;
  const { current, members, part, name, generateName } = change;
  const identity = { apiVersion: type.apiVersion, kind: type.kind };
  const before = current === undefined ? undefined : membersOf(current);
  return rules.violations({
    part,
    object: { ...identity, metadata: named(name, generateName), ...members },
    old: before && { ...identity, metadata: named(name, generateName), ...before },
    tolerated,
    oldFaults: oldFaults ?? (before === undefined || !needsOldFaults(rules, part) ? [] : faultsOf(type, before)),
  });
}

/** Returns the parts of metadata that rules may read. */
function named(name: string, generateName: string | undefined): Members {
  return generateName === undefined ? { name } : { name, generateName };
}

/**
 * Returns whether the rules need the schema's violations by the stored object. Rules may read the stored object only if
 * the object has the types and bounds that the rules rely on.
 */
function needsOldFaults({ hasTransitions }: SchemaRules, part: Part): boolean {
  return hasTransitions || part === 'status';
}

function faultsOf(type: ResourceType, members: Members): readonly SchemaViolation[] {
  return completeFaults(type, members) ?? [unknownFault];
}

/** Stands for the unknown violations of a very large object, for which only the first violation is found. */
const unknownFault: SchemaViolation = { pointer: '', detail: '', keyword: 'schema' };

type SchemaFaults = {
  readonly refused: readonly SchemaViolation[];
  /** The violations that do not refuse the write, because the stored object already had them. */
  readonly tolerated: readonly SchemaViolation[];
  /** The violations of the stored object; undefined if they were not computed. */
  readonly oldFaults: readonly SchemaViolation[] | undefined;
};

/**
 * Returns the violations of the schema that a write adds (Kubernetes' ratcheting). A schema may become stricter after
 * objects are stored. An old violation therefore does not refuse a write that does not change the value. A write of the
 * status is refused only for violations of the status.
 *
 * In a very large object, each violation counts as new, because the list of violations is incomplete.
 */
function schemaViolations(type: ResourceType, { members, current, part }: Change): SchemaFaults {
  const { found, isComplete } = part === 'status' ? type.checkStatus(members) : type.check(members);
  if (current === undefined || (found.length === 0 && isComplete))
    return { refused: found, tolerated: [], oldFaults: undefined };
  const concerned = part === 'status' ? found.filter(isOfStatus) : found;
  const oldFaults = isComplete && concerned.length > 0 ? completeFaults(type, membersOf(current)) : undefined;
  const values = { before: membersOf(current), after: members, part };
  const refused = oldFaults === undefined ? concerned : newViolations(concerned, oldFaults, values);
  const isRefused = new Set(refused);
  const tolerated = found.filter((violation) => !isRefused.has(violation));
  return { refused, tolerated: isComplete ? tolerated : [...tolerated, unknownFault], oldFaults };
}

/** Returns all violations of the schema; undefined if only the first violation is known. */
function completeFaults(type: ResourceType, members: Members): readonly SchemaViolation[] | undefined {
  const { found, isComplete } = type.check(members);
  return isComplete ? found : undefined;
}

/** Returns whether the violation is in the status, or concerns the whole object. */
function isOfStatus({ pointer }: Violation): boolean {
  return pointer === '' || pointer === '/status' || pointer.startsWith('/status/');
}

type Values = {
  readonly before: Members;
  readonly after: Members;
  readonly part: Part;
};

/**
 * Returns the new violations. A violation is old if the stored object has the violation with the same pointer, detail
 * and value. A write of the status adds only violations of the status.
 */
export function newViolations<Found extends Violation>(
  found: readonly Found[],
  earlier: readonly Violation[],
  { before, after, part }: Values,
): readonly Found[] {
  const known = new Set(earlier.map(keyOf));
  const concerned = part === 'status' ? found.filter(isOfStatus) : found;
  return concerned.filter((violation) => {
    if (!known.has(keyOf(violation))) return true;
    // The whole object contains the status, so the value of the whole object has always changed.
    if (part === 'status' && violation.pointer === '') return false;
    return !deepEqual(valueAt(before, violation.pointer), valueAt(after, violation.pointer));
  });
}

function keyOf({ pointer, detail }: Violation): string {
  return `${pointer}\n${detail}`;
}
