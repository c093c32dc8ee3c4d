import { deepEqual } from '../base/json.ts';
import { unreachable } from '../base/unreachable.ts';
import { generateNameLengthMax } from '../limits/objects.ts';
import { draftOf, namesOf, type Draft } from '../resource/object/draft.ts';
import { finalizerViolations } from '../resource/object/finalizers.ts';
import type { JsonObject, Metadata, ResourceObject } from '../resource/object/object.ts';
import { shownObject } from '../resource/object/shown-object.ts';
import type { Command, Part, Preconditions } from './command.ts';
import type { LiveState, State } from './evolve.ts';
import { patched } from './decide-patch.ts';
import { scaledDraft, shownScale } from './decide-scale.ts';
import { emit, emitLeaving, emitRemoved, isRemovable, removalOf, type Emitted } from './emit.ts';
import { deleteViolations } from './hooks/hooks.ts';
import { hookedDraft, hookedUpdate, refuseByHooks } from './hooks/hooked-draft.ts';
import { alreadyExists, identityProblem, invalid, notFound, refuse, stalePrecondition, warned } from './refuse.ts';
import { markedFinalizers } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Withheld } from './strategy.ts';
import { complete, type Facts } from './facts.ts';
import { restoredDraft } from './restored.ts';
import { checkPreconditions, checkStaleness, identityMismatch } from './preconditions.ts';
import {
  changedMembers,
  clientMetadata,
  isMarked,
  membersOf,
  renumbered,
  replaced,
  isSameSpec,
  withDefaults,
  withStoredMetadata,
} from './replacement.ts';
import { admit, nameViolations, refuseViolations, type Admitted } from './validation.ts';

export type Decision =
  /** With `withheld`, the event must not be appended. The caller must store the secret and decide again. */
  | (Emitted & { readonly ok: true; readonly withheld?: Withheld | undefined })
  /** The command changes nothing, so nothing is appended (decision 1.6). */
  | {
      readonly ok: true;
      readonly event: undefined;
      readonly object: ResourceObject;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly rejection: Rejection };

export function decide(state: State, command: Command, facts: Facts): Decision {
  switch (command.type) {
    case 'create':
      return decideCreate(state, command.object, facts);
    case 'replace':
      if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, command.name));
      return decideWhole(withDefaults(state, facts.type), draftOf(command.object), command, facts);
    case 'patch':
      return decidePatch(state, command, facts);
    case 'delete':
      return decideDelete(state, command, facts);
    case 'restore':
      if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, command.name));
      return decideReplace(
        withDefaults(state, facts.type),
        restoredDraft(state.object, command.past, facts.type),
        { ...command, part: 'main' },
        facts,
      );
    case 'find':
      if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, command.name));
      return { ok: true, event: undefined, object: state.object, warnings: [] };
    case 'collect':
      return decideCollect(state, command.name, command.uid, facts);
    case 'fence':
      return decideFence(state, command, facts);
    default:
      return unreachable(command);
  }
}

/** Returns the name of a new object; undefined for a body without a name and a `generateName`. */
export function nameOf(object: JsonObject, suffix: string): string | undefined {
  const { name, generateName } = namesOf(object);
  return name ?? completed(generateName, suffix);
}

export function isNameDrawn(command: Command): boolean {
  return command.type === 'create' && nameOf(command.object, 'a') !== nameOf(command.object, 'b');
}

export const namesPosition = 'metadata.resourceVersion must not be set on objects to be created';

function completed(generateName: string | undefined, suffix: string): string | undefined {
  return generateName === undefined ? undefined : generateName.slice(0, generateNameLengthMax) + suffix;
}

function decideCreate(state: State, object: JsonObject, facts: Facts): Decision {
  const { type } = facts;
  const draft = draftOf(object);
  const identity = identityProblem(draft, type, 'optional');
  if (identity !== undefined) return refuse('bad-request', identity);
  if (draft.resourceVersion !== undefined) return refuse('bad-request', namesPosition);
  const admitted = admit(draft, facts);
  if (!admitted.ok) return admitted;
  return warned(decideAdmitted(state, draft, admitted, facts), admitted.warnings);
}

function decideAdmitted(state: State, given: Draft, admitted: Admitted, facts: Facts): Decision {
  const { type } = facts;
  const name = given.name ?? completed(given.generateName, facts.suffix) ?? '';
  if (state.kind === 'live') return alreadyExists(type, name);
  const version = state.kind === 'absent' ? 0 : state.revision + 1;
  const objectOf = (draft: Draft, members: Admitted['members']): ResourceObject => {
    const { status, ...rest } = members;
    const kept = type.statusSubresource || status === undefined ? rest : members;
    const metadata = firstMetadata(draft, name, { version, facts });
    return { apiVersion: type.apiVersion, kind: type.kind, metadata, ...kept };
  };
  const problems = [...admitted.violations, ...nameViolations(given, name)];
  const isHooked = type.hooks !== undefined && problems.length === 0 && given.violations.length === 0;
  const whole = { draft: given, members: admitted.members };
  const hooked = isHooked
    ? hookedDraft(objectOf(given, admitted.members), 'create', whole, facts)
    : { ...whole, violations: [] };
  const { draft, fault } = hooked;
  const next = objectOf(draft, hooked.members);
  const more = [...problems, ...hooked.violations];
  const refused =
    refuseViolations(draft, { members: membersOf(next), name, more }, facts) ??
    refuseByHooks({ next, current: undefined, part: 'main', fault }, facts);
  if (refused !== undefined) return refused;
  const stored = complete(next, undefined, facts);
  if (!stored.ok) return stored;
  return withholding(
    stored.withheld,
    emit(facts, { event: 'ObjectCreated', object: stored.object, warnings: admitted.warnings }),
  );
}

function firstMetadata(
  draft: Draft,
  name: string,
  { version, facts }: { readonly version: number; readonly facts: Facts },
): Metadata {
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

function decidePatch(stored: State, command: Command & { readonly type: 'patch' }, facts: Facts): Decision {
  if (stored.kind !== 'live') return refuse('not-found', notFound(facts.type, command.name));
  const state = withDefaults(stored, facts.type);
  const scale = command.part === 'scale' ? shownScale(state, facts) : undefined;
  const result = patched(scale ?? shownObject(state.object, state.position.toString()), command.patch);
  if (result.ok) return decideWhole(state, draftOf(result.document), command, facts);
  // A malformed patch is refused before the check of the preconditions. A patch that cannot be applied is refused after
  // the check.
  return result.rejection.reason === 'bad-request'
    ? result
    : (checkPreconditions(state, command.preconditions, facts) ?? result);
}

type Target = { readonly name: string; readonly part: Part; readonly preconditions: Preconditions };

/** `draft` is the whole object, or a Scale for the part `scale`. */
function decideWhole(
  state: LiveState,
  draft: Draft,
  { name, part, preconditions }: Omit<Target, 'part'> & { readonly part: Part | 'scale' },
  facts: Facts,
): Decision {
  if (part !== 'scale') return decideReplace(state, draft, { name, part, preconditions }, facts);
  const scaled = scaledDraft(state, draft, { name, preconditions }, facts);
  if (!scaled.ok) return scaled;
  const decision = decideReplace(state, scaled.draft, { name, part: 'main', preconditions }, facts);
  return decision.ok
    ? { ...decision, warnings: [...scaled.warnings, ...decision.warnings] }
    : warned(decision, scaled.warnings);
}

function decideReplace(state: LiveState, given: Draft, target: Target, facts: Facts): Decision {
  const mismatch = identityMismatch(given, target.name, facts.type);
  if (mismatch !== undefined) return refuse('bad-request', mismatch);
  const proposed = target.part === 'main' ? given : withStoredMetadata(given, state.object);
  const admitted = admit(proposed, facts);
  if (!admitted.ok) return admitted;
  const stale = checkPreconditions(state, target.preconditions, facts) ?? checkStaleness(state, given, facts);
  return warned(stale ?? decideCurrent(state, { proposed, admitted, part: target.part }, facts), admitted.warnings);
}

type Replacing = { readonly proposed: Draft; readonly admitted: Admitted; readonly part: Part };

/** Decides a write after the caller has checked its preconditions. */
function decideCurrent(state: LiveState, { proposed, admitted, part }: Replacing, facts: Facts): Decision {
  const { type } = facts;
  const { object: current } = state;
  const { warnings } = admitted;
  const given = { draft: proposed, members: admitted.members, part };
  const plain = replaced(current, given, type);
  const hooked = hookedUpdate({ ...given, current, next: plain }, facts);
  const next = hooked.members === given.members ? plain : replaced(current, { ...hooked, part }, type);
  const members = changedMembers(current, next);
  const more = [...admitted.violations, ...hooked.violations, ...finalizerViolations(current, hooked.draft.finalizers)];
  const refused =
    refuseViolations(hooked.draft, { members, more, current, part }, facts) ??
    refuseByHooks({ next, current, part, fault: hooked.fault }, facts);
  if (refused !== undefined) return refused;
  const leaving = members === undefined && isMarked(current);
  const mayBeSame = members === undefined || facts.strategy !== undefined;
  return decideChange(state, next, { facts, leaving, mayBeSame, warnings });
}

type Outcome = {
  readonly facts: Facts;
  readonly leaving: boolean;
  readonly mayBeSame: boolean;
  readonly warnings: readonly string[];
};

/** Decides a valid replacement. The decision has no event if the object does not change. */
function decideChange(
  state: LiveState,
  next: ResourceObject,
  { facts, leaving, mayBeSame, warnings }: Outcome,
): Decision {
  const current = state.object;
  const stored = complete(next, current, facts);
  if (!stored.ok) return stored;
  const { object, withheld } = stored;
  if (mayBeSame && withheld === undefined && deepEqual(object, current))
    return { ok: true, event: undefined, object: current, warnings };
  const change = {
    event: 'ObjectUpdated' as const,
    object: renumbered(object, state, { generation: isSameSpec(current, object) ? 0 : 1 }),
    warnings,
  };
  return withholding(withheld, emitRemoved((leaving ? emitLeaving : emit)(facts, change)));
}

function withholding(withheld: Withheld | undefined, emitted: Emitted): Decision {
  return withheld === undefined || !emitted.ok ? emitted : { ...emitted, withheld };
}

function decideDelete(
  state: State,
  { name, preconditions, propagation }: Command & { readonly type: 'delete' },
  facts: Facts,
): Decision {
  if (state.kind !== 'live') return refuse('not-found', notFound(facts.type, name));
  const refused = checkPreconditions(state, preconditions, facts);
  if (refused !== undefined) return refused;
  const { object: current } = state;
  if (isMarked(current)) return { ok: true, event: undefined, object: current, warnings: [] };
  const violations = deleteViolations(current, facts);
  if (violations.length > 0) return invalid(facts.type, name, violations);
  const { finalizers: before, ...metadata } = current.metadata;
  const held = [...(facts.strategy?.heldBy?.(facts.domain) ?? []), ...(facts.heldBy ?? [])];
  const finalizers = markedFinalizers(before, propagation, held);
  const marked = {
    ...current,
    metadata: { ...metadata, deletionTimestamp: facts.now, ...(finalizers.length === 0 ? {} : { finalizers }) },
  };
  const object = renumbered(marked, state, { generation: 1 });
  return emitRemoved(emitLeaving(facts, { event: 'ObjectDeletionRequested', object, warnings: [] }));
}

function decideCollect(state: State, name: string, uid: string, facts: Facts): Decision {
  if (state.kind !== 'live' || state.object.metadata.uid !== uid)
    return refuse('not-found', notFound(facts.type, name));
  if (!isRemovable(state.object))
    return refuse(
      'precondition-failed',
      `"${name}" cannot be removed yet: the object is not marked for deletion, or has finalizers`,
    );
  const event = removalOf(state.object);
  return { ok: true, event, entry: undefined, object: event.object, warnings: [] };
}

/** A fence changes only the version of the object. Values that cannot be indexed get no claim. */
function decideFence(
  state: State,
  { name, uid, version }: Command & { readonly type: 'fence' },
  facts: Facts,
): Decision {
  if (state.kind !== 'live' || state.object.metadata.uid !== uid || state.revision !== version)
    return stalePrecondition(facts.type, name);
  return emitLeaving(facts, {
    event: 'NameFenced',
    object: renumbered(state.object, state, { generation: 0 }),
    warnings: [],
  });
}
