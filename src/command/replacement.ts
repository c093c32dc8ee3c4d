import { deepEqual } from '../base/json.ts';
import type { Draft } from '../resource/object/draft.ts';
import type { Metadata, ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Part } from './command.ts';
import type { LiveState } from './evolve.ts';

type Replacement = {
  readonly draft: Draft;
  readonly members: Readonly<Record<string, unknown>>;
  readonly part: Part;
};

/** Returns the object after a write of one part. Metadata that the server manages is kept. */
export function replaced(current: ResourceObject, by: Replacement, type: ResourceType): ResourceObject {
  return by.part === 'main'
    ? mainReplaced(current, by.draft, by.members, type)
    : statusReplaced(current, by.members['status']);
}

function mainReplaced(
  current: ResourceObject,
  draft: Draft,
  members: Readonly<Record<string, unknown>>,
  type: ResourceType,
): ResourceObject {
  const { name, generateName, uid, version, generation, creationTimestamp, deletionTimestamp } = current.metadata;
  const metadata: Metadata = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    uid,
    version,
    generation,
    creationTimestamp,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...clientMetadata(draft),
  };
  const identity = { apiVersion: type.apiVersion, kind: type.kind, metadata };
  if (!type.statusSubresource) return { ...identity, ...members };
  const { status: _ignored, ...rest } = members;
  return current['status'] === undefined
    ? { ...identity, ...rest }
    : { ...identity, ...rest, status: current['status'] };
}

function statusReplaced(current: ResourceObject, status: unknown): ResourceObject {
  const { status: _replaced, ...rest } = current;
  return status === undefined ? rest : { ...rest, status };
}

/**
 * Returns a draft for a write of the status. Takes the status and the preconditions from `draft`, and other metadata
 * from the stored object. Only the written values are thus validated.
 */
export function withStoredMetadata(draft: Draft, current: ResourceObject): Draft {
  const { name, labels, annotations, finalizers, ownerReferences } = current.metadata;
  const { status } = draft.members;
  const violations = draft.violations.filter(({ pointer }) => statusJudges.has(pointer));
  return {
    ...draft,
    name,
    labels,
    annotations,
    finalizers,
    ownerReferences,
    violations,
    unknown: [],
    members: status === undefined ? {} : { status },
  };
}

/**
 * Violations at these pointers also refuse a write of the status, because a malformed precondition must not be ignored.
 */
const statusJudges: ReadonlySet<string> = new Set(['/metadata/uid', '/metadata/version', '/metadata/resourceVersion']);

/** Returns the members of `next` that the schema describes; undefined if these members are unchanged. */
export function changedMembers(
  current: ResourceObject,
  next: ResourceObject,
): Readonly<Record<string, unknown>> | undefined {
  return isSameMembers(current, next) ? undefined : membersOf(next);
}

export function isSameMembers(current: ResourceObject, next: ResourceObject): boolean {
  return deepEqual(membersOf(next), membersOf(current));
}

/**
 * Returns the state with the defaults of the type's present schema. A client that reads an object and writes the same
 * object back thus changes nothing.
 */
export function withDefaults(state: LiveState, type: ResourceType): LiveState {
  const members = membersOf(state.object);
  const filled = type.fillDefaults(members) ?? members;
  return filled === members ? state : { ...state, object: { ...state.object, ...filled } };
}

export function isMarked(object: ResourceObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Returns the members that the type's schema describes. */
export function membersOf(object: ResourceObject): Readonly<Record<string, unknown>> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...members } = object;
  return members;
}

export function clientMetadata(
  draft: Draft,
): Pick<Metadata, 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'> {
  return {
    ...(draft.labels === undefined ? {} : { labels: draft.labels }),
    ...(draft.annotations === undefined ? {} : { annotations: draft.annotations }),
    ...(draft.finalizers === undefined ? {} : { finalizers: draft.finalizers }),
    ...(draft.ownerReferences === undefined ? {} : { ownerReferences: draft.ownerReferences }),
  };
}

export function renumbered(
  object: ResourceObject,
  state: LiveState,
  grow: { readonly generation: 0 | 1 },
): ResourceObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      version: state.revision + 1,
      generation: metadata.generation + grow.generation,
    },
  };
}

/** Returns whether the desired state is unchanged: all members except metadata and status. */
export function isSameSpec(before: ResourceObject, after: ResourceObject): boolean {
  const { status: _before, ...desiredBefore } = membersOf(before);
  const { status: _after, ...desiredAfter } = membersOf(after);
  return deepEqual(desiredBefore, desiredAfter);
}
