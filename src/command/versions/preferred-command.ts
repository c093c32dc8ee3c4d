import { deepEqual } from '../../base/json.ts';
import { unreachable } from '../../base/unreachable.ts';
import { draftOf, type Draft } from '../../resource/object/draft.ts';
import type { JsonObject, ResourceObject } from '../../resource/object/object.ts';
import { shownObject } from '../../resource/object/shown-object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { convert, hasFunctions, type Conversion } from '../../resource/type/versions/convert.ts';
import type { Command, Part } from '../command.ts';
import { decide, nameOf, namesPosition, type Decision } from '../decide.ts';
import { patched } from '../decide-patch.ts';
import type { LiveState, State } from '../evolve.ts';
import type { Facts } from '../facts.ts';
import { checkPreconditions, checkStaleness, identityMismatch } from '../preconditions.ts';
import { alreadyExists, identityProblem, invalid, refuse, warned, type Refused } from '../refuse.ts';
import {
  changedMembers,
  clientMetadata,
  membersOf,
  replaced,
  withDefaults,
  withStoredMetadata,
} from '../replacement.ts';
import { admit, nameViolations, refuseViolations, type Admitted } from '../validation.ts';

/**
 * Decides a command. `asked` is the type in the version of the request; undefined for the preferred version. A write in
 * another version is validated in this version and then converted, so that `decide`, hooks and indexes know only the
 * preferred version.
 */
export function decideInVersion(
  state: State,
  command: Command,
  facts: Facts,
  asked: ResourceType | undefined,
): Decision {
  if (asked === undefined) return decide(state, command, facts);
  const converted = inPreferredVersion(state, command, { facts, asked });
  if (!converted.ok) return converted;
  const { warnings } = converted;
  const decision = decide(state, converted.command, converted.facts);
  return decision.ok ? { ...decision, warnings: [...warnings, ...decision.warnings] } : warned(decision, warnings);
}

type PreferredCommand =
  | Refused
  | { readonly ok: true; readonly command: Command; readonly facts: Facts; readonly warnings: readonly string[] };

function inPreferredVersion(state: State, command: Command, { facts, asked }: Versions): PreferredCommand {
  switch (command.type) {
    case 'create':
      return convertCreate(state, command, { facts, asked });
    case 'replace':
    case 'patch':
      return state.kind !== 'live' || command.part === 'scale'
        ? unconverted(command, facts)
        : convertWrite(withDefaults(state, facts.type), { ...command, part: command.part }, { facts, asked });
    case 'delete':
    case 'restore':
    case 'find':
    case 'collect':
    case 'fence':
      return unconverted(command, facts);
    default:
      return unreachable(command);
  }
}

function unconverted(command: Command, facts: Facts): PreferredCommand {
  return { ok: true, command, facts, warnings: [] };
}

type Versions = {
  readonly facts: Facts;
  readonly asked: ResourceType;
};

function convertCreate(
  state: State,
  { object }: Command & { readonly type: 'create' },
  { facts, asked }: Versions,
): PreferredCommand {
  const draft = draftOf(object);
  const identity = identityProblem(draft, asked, 'optional');
  if (identity !== undefined) return refuse('bad-request', identity);
  if (draft.resourceVersion !== undefined) return refuse('bad-request', namesPosition);
  const inVersion = { ...facts, type: asked };
  const admitted = admit(draft, inVersion);
  if (!admitted.ok) return admitted;
  const name = nameOf(object, facts.suffix) ?? '';
  if (state.kind === 'live') return warned(alreadyExists(asked, name), admitted.warnings);
  const more = [...admitted.violations, ...nameViolations(draft, name)];
  const refused = refuseViolations(draft, { members: admitted.members, more, name }, inVersion);
  if (refused !== undefined) return warned(refused, admitted.warnings);
  const managed = { uid: facts.uid, version: 0, generation: 1, creationTimestamp: facts.now };
  const metadata = { name, ...managed, ...clientMetadata(draft) };
  const whole = { apiVersion: asked.apiVersion, kind: asked.kind, metadata, ...admitted.members };
  const converted = convertWhole(whole, { facts, asked });
  if (!converted.ok) return warned(converted, admitted.warnings);
  const body = bodyOf(draft, converted.object);
  return {
    ok: true,
    command: { type: 'create', object: body },
    facts: decoded(facts),
    warnings: admitted.warnings,
  };
}

type Write = Extract<Command, { readonly type: 'replace' | 'patch' }> & { readonly part: Part };

function convertWrite(state: LiveState, command: Write, { facts, asked }: Versions): PreferredCommand {
  const shown = convert(state.object, asked);
  const { name, part, preconditions } = command;
  if (!shown.ok) return unconvertible(asked, name, shown);
  const current = shown.object;
  const draft = draftIn(current, command, state);
  if (!draft.ok)
    return draft.rejection.reason === 'bad-request'
      ? draft
      : (checkPreconditions(state, preconditions, facts) ?? draft);
  const { draft: given } = draft;
  const mismatch = identityMismatch(given, name, asked);
  if (mismatch !== undefined) return refuse('bad-request', mismatch);
  const proposed = part === 'main' ? given : withStoredMetadata(given, current);
  const admitted = admit(proposed, { ...facts, type: asked });
  if (!admitted.ok) return admitted;
  const stale = checkPreconditions(state, preconditions, facts) ?? checkStaleness(state, given, facts);
  const converted = stale ?? convertReplacement({ current, proposed, admitted, part }, { facts, asked });
  if (!converted.ok) return warned(converted, admitted.warnings);
  const object = bodyOf(proposed, converted.object);
  return {
    ok: true,
    command: { type: 'replace', name, object, part, preconditions },
    facts: decoded(facts),
    warnings: admitted.warnings,
  };
}

/** Returns the requested object in the version of the request. */
function draftIn(
  current: ResourceObject,
  command: Write,
  { position }: LiveState,
): { readonly ok: true; readonly draft: Draft } | Refused {
  if (command.type === 'replace') return { ok: true, draft: draftOf(command.object) };
  const result = patched(shownObject(current, position.toString()), command.patch);
  return result.ok ? { ok: true, draft: draftOf(result.document) } : result;
}

type Replacing = {
  readonly current: ResourceObject;
  readonly proposed: Draft;
  readonly admitted: Admitted;
  readonly part: Part;
};

function convertReplacement({ current, proposed, admitted, part }: Replacing, { facts, asked }: Versions): Whole {
  const next = replaced(current, { draft: proposed, members: admitted.members, part }, asked);
  const members = changedMembers(current, next);
  const validated = { members, more: admitted.violations, current, part };
  return refuseViolations(proposed, validated, { ...facts, type: asked }) ?? convertWhole(next, { facts, asked });
}

type Whole = Refused | { readonly ok: true; readonly object: ResourceObject };

/** Converts an object to the preferred version. Refuses the object if a conversion back would change the object. */
function convertWhole(object: ResourceObject, { facts: { type }, asked }: Versions): Whole {
  const { name } = object.metadata;
  const there = convert(object, type);
  if (!there.ok) return unconvertible(asked, name, there);
  if (asked.versions === undefined || !hasFunctions(asked.versions)) return there;
  const back = convert(there.object, asked);
  if (!back.ok) return unconvertible(asked, name, back);
  return deepEqual(comparable(back.object, asked), comparable(object, asked))
    ? there
    : unconvertible(asked, name, { problem: `the conversion to ${type.apiVersion} and back changes the object` });
}

function comparable(object: ResourceObject, type: ResourceType): readonly unknown[] {
  const members = membersOf(object);
  return [object.metadata.annotations ?? {}, type.fillDefaults(members) ?? members];
}

/** Returns the body of a write in the preferred version, with the preconditions of the client's body. */
function bodyOf(draft: Draft, { apiVersion, kind, metadata, ...members }: ResourceObject): JsonObject {
  const { name, generateName, uid, version, resourceVersion } = draft;
  const given = {
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
    ...(uid === undefined ? {} : { uid }),
    ...(version === undefined ? {} : { version }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...clientMetadata({ ...draft, annotations: metadata.annotations }),
  };
  return { apiVersion, kind, metadata: given, ...members };
}

/**
 * Returns the facts without `fieldValidation`, because unknown fields were already dropped or refused in the version of
 * the request.
 */
function decoded(facts: Facts): Facts {
  return { ...facts, fieldValidation: undefined };
}

function unconvertible(
  type: ResourceType,
  name: string,
  { problem, thrown }: Omit<Extract<Conversion, { readonly ok: false }>, 'ok'>,
): Refused {
  type.versions?.faults.record({ name, problem, thrown });
  return invalid(type, name, [{ pointer: '', detail: `${problem} (the plugin ${type.plugin})` }]);
}
