import { deepEqual } from '../base/json.ts';
import { unreachable } from '../base/unreachable.ts';
import { generateNameLengthMax, validationErrorsMax } from '../limits.ts';
import { draftOf, metadataViolations, type Draft } from '../resource/draft.ts';
import { nameProblem } from '../resource/names.ts';
import type { JsonObject, Metadata, ResourceObject } from '../resource/object.ts';
import { entryOf, heldValues, IndexValueError } from '../resource/index-definition.ts';
import type { ResourceType, Violation } from '../resource/resource-type.ts';
import type { Command, Part, Preconditions, WriteContext } from './command.ts';
import type { ObjectEvent } from './event.ts';
import type { State } from './evolve.ts';
import { patched } from './decide-patch.ts';
import { alreadyExists, dottedPath, identityProblem, invalid, notFound, refuse, stalePrecondition, uidConflict, type Refused } from './refuse.ts';
import type { Rejection } from './rejection.ts';

/** Everything a decision depends on beside state and command: decide reads no clock, draws nothing and does no I/O. */
export type Facts = {
  readonly type: ResourceType;
  /** RFC 3339, UTC, milliseconds. */
  readonly now: string;
  /** The uid a create gives. */
  readonly uid: string;
  /** The five characters a `generateName` is completed with. */
  readonly suffix: string;
  readonly domain: string;
  readonly origin: WriteContext['origin'];
  readonly fieldValidation: WriteContext['fieldValidation'];
};

export type Decision =
  | { readonly ok: true; readonly event: ObjectEvent; readonly object: ResourceObject; readonly warnings: readonly string[] }
  /** The result equals what is stored: nothing is appended (decision 1.6). */
  | { readonly ok: true; readonly event: undefined; readonly object: ResourceObject; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly rejection: Rejection };

type Live = State & { readonly kind: 'live' };

export function decide(state: State, command: Command, facts: Facts): Decision {
  switch (command.type) {
    case 'create':
      return decideCreate(state, command.object, facts);
    case 'replace':
      if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, command.name));
      return decideReplace(state, draftOf(command.object), command, facts);
    case 'patch':
      return decidePatch(state, command, facts);
    case 'delete':
      return decideDelete(state, command.name, command.preconditions, facts);
    case 'collect':
      return decideCollect(state, command.name, command.uid, facts);
    default:
      return unreachable(command);
  }
}

/** The name a create is for; undefined when the body gives neither a name nor a usable prefix. */
export function nameOf(object: JsonObject, suffix: string): string | undefined {
  const draft = draftOf(object);
  if (draft.name !== undefined) return draft.name;
  return draft.generateName === undefined ? undefined : draft.generateName.slice(0, generateNameLengthMax) + suffix;
}

function decideCreate(state: State, object: JsonObject, facts: Facts): Decision {
  const { type } = facts;
  const draft = draftOf(object);
  const identity = identityProblem(draft, type, 'optional');
  if (identity !== undefined) return refuse('bad-request', identity);
  if (draft.resourceVersion !== undefined) return refuse('bad-request', 'metadata.resourceVersion must not be set on objects to be created');
  const admitted = admit(draft, facts);
  if (!admitted.ok) return admitted;
  const name = draft.name ?? (draft.generateName === undefined ? '' : draft.generateName.slice(0, generateNameLengthMax) + facts.suffix);
  if (state.kind === 'live') return alreadyExists(type, name);
  const refused = broken(draft, admitted.members, nameViolations(draft, name), facts);
  if (refused !== undefined) return refused;
  const metadata: Metadata = {
    name,
    ...(draft.generateName === undefined ? {} : { generateName: draft.generateName }),
    uid: facts.uid,
    version: state.kind === 'absent' ? 0 : state.revision + 1,
    generation: 1,
    creationTimestamp: facts.now,
    ...clientMetadata(draft),
  };
  const { status, ...rest } = admitted.members;
  const members = type.statusSubresource || status === undefined ? rest : admitted.members;
  return emit('ObjectCreated', { apiVersion: type.apiVersion, kind: type.kind, metadata, ...members }, facts, admitted.warnings);
}

function decidePatch(state: State, command: Command & { readonly type: 'patch' }, facts: Facts): Decision {
  if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, command.name));
  const result = patched(state, command.patch);
  if (result.ok) return decideReplace(state, draftOf(result.document), command, facts);
  // A patch that cannot be read is refused before any precondition; one that cannot be applied, after them.
  return result.rejection.reason === 'bad-request' ? result : unmet(state, command.preconditions, facts) ?? result;
}

type Target = { readonly name: string; readonly part: Part; readonly preconditions: Preconditions };

function decideReplace(state: Live, draft: Draft, target: Target, facts: Facts): Decision {
  const { type } = facts;
  const problem = identityProblem(draft, type, 'required') ?? (draft.name === target.name ? undefined
    : `the body's metadata.name is ${JSON.stringify(draft.name ?? null)}, the path names ${JSON.stringify(target.name)}`);
  if (problem !== undefined) return refuse('bad-request', problem);
  const judged = target.part === 'main' ? draft : withStoredMembers(draft, state.object);
  const admitted = admit(judged, facts);
  if (!admitted.ok) return admitted;
  const current = state.object;
  const next = target.part === 'main' ? mainReplaced(current, draft, admitted.members, type) : statusReplaced(current, draft);
  const refused = unmet(state, target.preconditions, facts) ?? staleness(state, draft, facts)
    ?? broken(judged, membersOf(next), finalizerViolations(current, judged), facts);
  if (refused !== undefined) return refused;
  if (deepEqual(next, current)) return { ok: true, event: undefined, object: current, warnings: admitted.warnings };
  return emit('ObjectUpdated', renumbered(next, state, { generation: sameSpec(current, next) ? 0 : 1 }), facts, admitted.warnings);
}

function decideDelete(state: State, name: string, preconditions: Preconditions, facts: Facts): Decision {
  if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, name));
  const refused = unmet(state, preconditions, facts);
  if (refused !== undefined) return refused;
  const { object } = state;
  if (object.metadata.deletionTimestamp !== undefined) return { ok: true, event: undefined, object, warnings: [] };
  const marked = { ...object, metadata: { ...object.metadata, deletionTimestamp: facts.now } };
  return emit('ObjectDeletionRequested', renumbered(marked, state, { generation: 1 }), facts, []);
}

function decideCollect(state: State, name: string, uid: string, facts: Facts): Decision {
  if (state.kind !== 'live' || state.object.metadata.uid !== uid) return refuse('not-found', notFound(facts.type, name));
  const { deletionTimestamp, finalizers } = state.object.metadata;
  if (deletionTimestamp === undefined || finalizers !== undefined) return refuse('precondition-failed', `"${name}" is not ready to be removed`);
  const removed = renumbered(state.object, state, { generation: 0 });
  return { ok: true, event: { type: 'ObjectDeleted', object: removed, values: [] }, object: removed, warnings: [] };
}

/** The request's own preconditions: 412 before 409. */
function unmet(state: Live, preconditions: Preconditions, facts: Facts): Refused | undefined {
  const { ifMatch, uid, resourceVersion } = preconditions;
  if (ifMatch !== undefined && ifMatch !== 'any' && !ifMatch.includes(state.revision)) {
    return refuse('precondition-failed', `If-Match names version ${ifMatch.join(', ')}; the current one is ${String(state.revision)}`);
  }
  if (uid !== undefined && uid !== state.object.metadata.uid) return uidConflict(facts.type, uid, state.object);
  if (resourceVersion !== undefined && resourceVersion !== state.position.toString()) return stalePrecondition(facts.type, state.object.metadata.name);
  return undefined;
}

function staleness(state: Live, draft: Draft, facts: Facts): Refused | undefined {
  if (draft.uid !== undefined && draft.uid !== state.object.metadata.uid) return uidConflict(facts.type, draft.uid, state.object);
  const versionStale = draft.version !== undefined && draft.version !== state.revision;
  const positionStale = draft.resourceVersion !== undefined && draft.resourceVersion !== state.position.toString();
  return versionStale || positionStale ? stalePrecondition(facts.type, state.object.metadata.name) : undefined;
}

type Admitted = { readonly ok: true; readonly members: Readonly<Record<string, unknown>>; readonly warnings: readonly string[] };

/** The members a write is about, unknown ones dropped or refused as `fieldValidation` says (decision 1.9). */
function admit(draft: Draft, facts: Facts): Admitted | Refused {
  const { type, fieldValidation } = facts;
  if (fieldValidation === undefined) return { ok: true, members: draft.members, warnings: [] };
  const pruned = type.prune(draft.members);
  const unknown = [...draft.unknown, ...pruned.unknown].slice(0, validationErrorsMax).map((pointer) => `unknown field "${dottedPath(pointer)}"`);
  if (fieldValidation === 'Strict' && unknown.length > 0) return refuse('bad-request', `strict decoding error: ${unknown.join(', ')}`);
  return { ok: true, members: pruned.object, warnings: fieldValidation === 'Warn' ? unknown : [] };
}

/** Every broken rule of metadata and schema at once. */
function broken(draft: Draft, members: Readonly<Record<string, unknown>>, more: readonly Violation[], facts: Facts): Refused | undefined {
  const unknown = facts.fieldValidation === undefined ? draft.unknown.map((pointer) => ({ pointer, detail: 'is not known' })) : [];
  const violations = [...draft.violations, ...more, ...metadataViolations(draft, facts.origin, facts.domain), ...unknown, ...facts.type.violations(members)];
  return violations.length === 0 ? undefined : invalid(facts.type, draft.name ?? draft.generateName ?? '', violations);
}

function nameViolations(draft: Draft, name: string): readonly Violation[] {
  if (draft.violations.some(({ pointer }) => pointer === '/metadata/name' || pointer === '/metadata/generateName')) return [];
  const problem = name === '' ? 'must not be empty (metadata.generateName may stand for it)' : nameProblem(name);
  return problem === undefined ? [] : [{ pointer: draft.name === undefined && draft.generateName !== undefined ? '/metadata/generateName' : '/metadata/name', detail: problem }];
}

/** Kubernetes' rule: while an object is being deleted finalizers can only go (decision 3.2). */
function finalizerViolations(current: ResourceObject, draft: Draft): readonly Violation[] {
  if (current.metadata.deletionTimestamp === undefined) return [];
  const present = new Set(current.metadata.finalizers ?? []);
  const added = (draft.finalizers ?? []).filter((finalizer) => !present.has(finalizer));
  if (added.length === 0) return [];
  return [{ pointer: '/metadata/finalizers', detail: `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}` }];
}

function mainReplaced(current: ResourceObject, draft: Draft, members: Readonly<Record<string, unknown>>, type: ResourceType): ResourceObject {
  const { name, generateName, uid, version, generation, creationTimestamp, deletionTimestamp } = current.metadata;
  const metadata: Metadata = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    uid, version, generation, creationTimestamp,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...clientMetadata(draft),
  };
  const identity = { apiVersion: type.apiVersion, kind: type.kind, metadata };
  if (!type.statusSubresource) return { ...identity, ...members };
  const { status: _ignored, ...rest } = members;
  return current['status'] === undefined ? { ...identity, ...rest } : { ...identity, ...rest, status: current['status'] };
}

function statusReplaced(current: ResourceObject, draft: Draft): ResourceObject {
  const { status: _replaced, ...rest } = current;
  const status = draft.members['status'];
  return status === undefined ? rest : { ...rest, status };
}

/** A status write is judged by its status alone: everything else is the stored object's. */
function withStoredMembers(draft: Draft, current: ResourceObject): Draft {
  const { name, labels, annotations, finalizers, ownerReferences } = current.metadata;
  const { status: _stored, ...members } = membersOf(current);
  const status = draft.members['status'];
  const violations = draft.violations.filter(({ pointer }) => !pointer.startsWith('/metadata'));
  return { ...draft, name, labels, annotations, finalizers, ownerReferences, violations, unknown: [], members: status === undefined ? members : { ...members, status } };
}

function membersOf(object: ResourceObject): Readonly<Record<string, unknown>> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...members } = object;
  return members;
}

function clientMetadata(draft: Draft): Pick<Metadata, 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'> {
  return {
    ...(draft.labels === undefined ? {} : { labels: draft.labels }),
    ...(draft.annotations === undefined ? {} : { annotations: draft.annotations }),
    ...(draft.finalizers === undefined ? {} : { finalizers: draft.finalizers }),
    ...(draft.ownerReferences === undefined ? {} : { ownerReferences: draft.ownerReferences }),
  };
}

function renumbered(object: ResourceObject, state: Live, grow: { readonly generation: 0 | 1 }): ResourceObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, version: state.revision + 1, generation: metadata.generation + grow.generation } };
}

/** `generation` counts changes of what is desired: everything beside metadata and status. */
function sameSpec(before: ResourceObject, after: ResourceObject): boolean {
  const { status: _before, ...desiredBefore } = membersOf(before);
  const { status: _after, ...desiredAfter } = membersOf(after);
  return deepEqual(desiredBefore, desiredAfter);
}

function emit(eventType: 'ObjectCreated' | 'ObjectUpdated' | 'ObjectDeletionRequested', object: ResourceObject, facts: Facts, warnings: readonly string[]): Decision {
  try {
    // Every index must be able to take the object, not only the unique ones whose values are claimed.
    entryOf(facts.type.indexes, object);
    const values = heldValues(facts.type.indexes, object);
    return { ok: true, event: { type: eventType, object, values }, object, warnings };
  } catch (error) {
    if (!(error instanceof IndexValueError)) throw error;
    return invalid(facts.type, object.metadata.name, [{ pointer: `/${error.index.replaceAll('.', '/')}`, detail: error.message }]);
  }
}
