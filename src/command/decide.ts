import { deepEqual } from '../base/json.ts';
import { unreachable } from '../base/unreachable.ts';
import { generateNameLengthMax } from '../limits/objects.ts';
import { validationErrorsMax } from '../limits/requests.ts';
import { draftOf, metadataViolations, namesOf, type Draft } from '../resource/draft.ts';
import { nameProblem } from '../resource/names.ts';
import type { JsonObject, Metadata, ResourceObject } from '../resource/object.ts';
import type { ResourceType, Violation } from '../resource/resource-type.ts';
import type { Command, Part, Preconditions } from './command.ts';
import type { State } from './evolve.ts';
import { patched } from './decide-patch.ts';
import { emit, emitLeaving, emitRemoved, isRemovable, removalOf, type Emitted } from './emit.ts';
import { alreadyExists, dottedPath, identityProblem, invalid, notFound, refuse, stalePrecondition, uidConflict, type Refused } from './refuse.ts';
import { markedFinalizers } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Withheld } from './strategy.ts';
import { complete, type Facts } from './facts.ts';

export type Decision =
  /** With something `withheld` it is not to be appended: that is to be kept first, and then decided anew. */
  | Emitted & { readonly ok: true; readonly withheld?: Withheld | undefined }
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
      return decideDelete(state, command, facts);
    case 'collect':
      return decideCollect(state, command.name, command.uid, facts);
    default:
      return unreachable(command);
  }
}

/** The name a create is for; undefined when the body gives neither a name nor a usable prefix. */
export function nameOf(object: JsonObject, suffix: string): string | undefined {
  const { name, generateName } = namesOf(object);
  return name ?? completed(generateName, suffix);
}

export function isNameDrawn(command: Command): boolean {
  return command.type === 'create' && nameOf(command.object, 'a') !== nameOf(command.object, 'b');
}

function completed(generateName: string | undefined, suffix: string): string | undefined {
  return generateName === undefined ? undefined : generateName.slice(0, generateNameLengthMax) + suffix;
}

function decideCreate(state: State, object: JsonObject, facts: Facts): Decision {
  const { type } = facts;
  const draft = draftOf(object);
  const identity = identityProblem(draft, type, 'optional');
  if (identity !== undefined) return refuse('bad-request', identity);
  if (draft.resourceVersion !== undefined) return refuse('bad-request', 'metadata.resourceVersion must not be set on objects to be created');
  const admitted = admit(draft, facts);
  if (!admitted.ok) return admitted;
  const name = draft.name ?? completed(draft.generateName, facts.suffix) ?? '';
  if (state.kind === 'live') return alreadyExists(type, name);
  const { status, ...rest } = admitted.members;
  const members = type.statusSubresource || status === undefined ? rest : admitted.members;
  const refused = broken(draft, { members, more: nameViolations(draft, name) }, facts);
  if (refused !== undefined) return refused;
  const metadata = firstMetadata(draft, name, { version: state.kind === 'absent' ? 0 : state.revision + 1, facts });
  const stored = complete({ apiVersion: type.apiVersion, kind: type.kind, metadata, ...members }, undefined, facts);
  if (!stored.ok) return stored;
  return withholding(stored.withheld, emit(facts, { event: 'ObjectCreated', object: stored.object, warnings: admitted.warnings }));
}

function firstMetadata(draft: Draft, name: string, { version, facts }: { readonly version: number; readonly facts: Facts }): Metadata {
  return {
    name,
    ...(draft.generateName === undefined ? {} : { generateName: draft.generateName }),
    uid: facts.uid,
    version,
    generation: 1,
    creationTimestamp: facts.now,
    ...clientMetadata(draft),
  };
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
  const misdirected = misdirection(draft, target.name, facts.type);
  if (misdirected !== undefined) return refuse('bad-request', misdirected);
  const current = state.object;
  const judged = target.part === 'main' ? draft : withStoredMetadata(draft, current);
  const admitted = admit(judged, facts);
  if (!admitted.ok) return admitted;
  const next = replaced(current, { draft, members: admitted.members, part: target.part }, facts.type);
  const members = changedMembers(current, next);
  const refused = unmet(state, target.preconditions, facts) ?? staleness(state, draft, facts)
    ?? broken(judged, { members, more: finalizerViolations(current, judged), current }, facts);
  if (refused !== undefined) return refused;
  const leaving = members === undefined && isMarked(current);
  return changed(state, next, { facts, leaving, mayBeSame: members === undefined || facts.strategy !== undefined, warnings: admitted.warnings });
}

type Outcome = { readonly facts: Facts; readonly leaving: boolean; readonly mayBeSame: boolean; readonly warnings: readonly string[] };

/** The event of a replacement that was found right, unless it makes no difference. */
function changed(state: Live, next: ResourceObject, { facts, leaving, mayBeSame, warnings }: Outcome): Decision {
  const current = state.object;
  const stored = complete(next, current, facts);
  if (!stored.ok) return stored;
  const { object, withheld } = stored;
  if (mayBeSame && withheld === undefined && deepEqual(object, current)) return { ok: true, event: undefined, object: current, warnings };
  const change = { event: 'ObjectUpdated' as const, object: renumbered(object, state, { generation: sameSpec(current, object) ? 0 : 1 }), warnings };
  return withholding(withheld, emitRemoved((leaving ? emitLeaving : emit)(facts, change)));
}

function withholding(withheld: Withheld | undefined, emitted: Emitted): Decision {
  return withheld === undefined || !emitted.ok ? emitted : { ...emitted, withheld };
}

function decideDelete(state: State, { name, preconditions, propagation }: Command & { readonly type: 'delete' }, facts: Facts): Decision {
  if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, name));
  const refused = unmet(state, preconditions, facts);
  if (refused !== undefined) return refused;
  const { object: current } = state;
  if (isMarked(current)) return { ok: true, event: undefined, object: current, warnings: [] };
  const { finalizers: before, ...metadata } = current.metadata;
  const finalizers = markedFinalizers(before, propagation, facts.strategy?.heldBy?.(facts.domain));
  const marked = { ...current, metadata: { ...metadata, deletionTimestamp: facts.now, ...(finalizers.length === 0 ? {} : { finalizers }) } };
  const object = renumbered(marked, state, { generation: 1 });
  return emitRemoved(emitLeaving(facts, { event: 'ObjectDeletionRequested', object, warnings: [] }));
}

function decideCollect(state: State, name: string, uid: string, facts: Facts): Decision {
  if (state.kind !== 'live' || state.object.metadata.uid !== uid) return refuse('not-found', notFound(facts.type, name));
  if (!isRemovable(state.object)) return refuse('precondition-failed', `"${name}" is not ready to be removed`);
  const event = removalOf(state.object);
  return { ok: true, event, entry: undefined, object: event.object, warnings: [] };
}

/** Why a body is not one for the object its path names. */
function misdirection(draft: Draft, name: string, type: ResourceType): string | undefined {
  const problem = identityProblem(draft, type, 'required');
  if (problem !== undefined) return problem;
  return draft.name === name ? undefined : `the body's metadata.name is ${JSON.stringify(draft.name ?? null)}, the path names ${JSON.stringify(name)}`;
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

type Judged = {
  /** Undefined when they are what is stored: they were judged when they were written, and a schema may have changed since. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly more: readonly Violation[];
  readonly current?: ResourceObject;
};

/** Every broken rule of metadata and schema at once. */
function broken(draft: Draft, { members, more, current }: Judged, facts: Facts): Refused | undefined {
  const unknown = facts.fieldValidation === undefined ? draft.unknown.map((pointer) => ({ pointer, detail: 'is not known' })) : [];
  const rules = { origin: facts.origin, domain: facts.domain, storedLabels: current?.metadata.labels };
  const violations = [...draft.violations, ...more, ...metadataViolations(draft, rules), ...unknown, ...(members === undefined ? [] : facts.type.violations(members))];
  return violations.length === 0 ? undefined : invalid(facts.type, draft.name ?? draft.generateName ?? '', violations);
}

function nameViolations(draft: Draft, name: string): readonly Violation[] {
  if (draft.violations.some(({ pointer }) => pointer === '/metadata/name' || pointer === '/metadata/generateName')) return [];
  const problem = name === '' ? 'must not be empty (metadata.generateName may stand for it)' : nameProblem(name);
  return problem === undefined ? [] : [{ pointer: draft.name === undefined && draft.generateName !== undefined ? '/metadata/generateName' : '/metadata/name', detail: problem }];
}

/** Kubernetes' rule: while an object is being deleted finalizers can only go (decision 3.2). */
function finalizerViolations(current: ResourceObject, draft: Draft): readonly Violation[] {
  if (!isMarked(current)) return [];
  const present = new Set(current.metadata.finalizers ?? []);
  const added = (draft.finalizers ?? []).filter((finalizer) => !present.has(finalizer));
  if (added.length === 0) return [];
  return [{ pointer: '/metadata/finalizers', detail: `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}` }];
}

type Replacement = { readonly draft: Draft; readonly members: Readonly<Record<string, unknown>>; readonly part: Part };

function replaced(current: ResourceObject, by: Replacement, type: ResourceType): ResourceObject {
  return by.part === 'main' ? mainReplaced(current, by.draft, by.members, type) : statusReplaced(current, by.members['status']);
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

function statusReplaced(current: ResourceObject, status: unknown): ResourceObject {
  const { status: _replaced, ...rest } = current;
  return status === undefined ? rest : { ...rest, status };
}

/** A status write is judged by its status alone: everything else is the stored object's. */
function withStoredMetadata(draft: Draft, current: ResourceObject): Draft {
  const { name, labels, annotations, finalizers, ownerReferences } = current.metadata;
  const { status } = draft.members;
  const violations = draft.violations.filter(({ pointer }) => statusJudges.has(pointer));
  return { ...draft, name, labels, annotations, finalizers, ownerReferences, violations, unknown: [], members: status === undefined ? {} : { status } };
}

/** A precondition that cannot be read is no licence to write. */
const statusJudges: ReadonlySet<string> = new Set(['/metadata/uid', '/metadata/version', '/metadata/resourceVersion']);

function changedMembers(current: ResourceObject, next: ResourceObject): Readonly<Record<string, unknown>> | undefined {
  const members = membersOf(next);
  return deepEqual(members, membersOf(current)) ? undefined : members;
}

function isMarked(object: ResourceObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
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
