import { withoutFinalizers } from '../../resource/object/finalizers.ts';
import { isObject } from '../../base/guards.ts';
import { decodeJson, deepEqual } from '../../base/json.ts';
import { delay, type Clock } from '../../base/clock.ts';
import type { Command, WriteContext, WriteOutcome } from '../../command/command.ts';
import type { Cause } from '../../command/event.ts';
import { alreadyExists, notFound } from '../../command/refuse.ts';
import type { Rejection } from '../../command/rejection.ts';
import { actorOf, type Subject } from '../../command/subject.ts';
import type { Execute } from '../../write/execute.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { writeAttemptsMax } from '../../limits/writes.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { pastAnswer } from '../../resource/type/versions/shown-version.ts';
import { appliedBase, appliedText, lastAppliedKey, mergeableOf, objectAt } from './applied-base.ts';
import { mergeThreeWay, remember } from './three-way-merge.ts';

export type ApplyDependencies = {
  readonly execute: Execute;
  readonly reader: ObjectReader;
  readonly clock: Clock;
  readonly domain: string;
  readonly uuid: () => string;
};

export type Applied =
  /**
   * `kept`: the pointers of values that both the plugin and users changed. `isNew`: whether the object was created.
   * `bytes`: the object after the write, or as a dry run would write it; undefined if nothing changes.
   */
  | { readonly ok: true; readonly kept: readonly string[]; readonly isNew: boolean; readonly bytes?: Uint8Array }
  /** `rejection` is set if the write was refused. */
  | { readonly ok: false; readonly detail: string; readonly rejection?: Rejection };

export type Application = {
  readonly type: ResourceType;
  readonly name: string;
  /** The object from the plugin's files. */
  readonly object: JsonObject;
  /** The author of the write. The author must have all rights that the object grants. */
  readonly subject: Subject;
  readonly plugin: string;
  readonly origin: WriteContext['origin'];
  /** The cause of the request. The default has the subject as the actor. */
  readonly cause?: Cause;
  /**
   * The expected state. 'absent': the object must not exist; if another writer creates the object first, the write is
   * refused instead of merged. `uid`: the object with this uid must exist, and must not be marked for deletion.
   */
  readonly expects?: 'absent' | { readonly uid: string };
  /** The member of `spec` that gets the shipped value even if users changed the member. */
  readonly decides?: string;
  /** If true, the write is checked but not made. */
  readonly dryRun?: boolean;
  /** Whether the object is one of an installed plugin's files. */
  readonly isShipped?: true;
};

/**
 * Creates the object, or merges the shipped object into the present object (three-way). Writes only if values change.
 */
export async function applyObject(given: Application, dependencies: ApplyDependencies): Promise<Applied> {
  const application = inPreferredVersion(given);
  let rejection: Rejection | undefined;
  for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
    const step = nextStep(application, dependencies);
    const unexpected = unexpectedly(application, step, dependencies);
    if (unexpected !== undefined) return { ok: false, detail: rejectionText(unexpected), rejection: unexpected };
    if (step.command === undefined) return { ok: true, kept: step.kept, isNew: false };
    const outcome = await write(application, step.command, dependencies);
    if (outcome.ok)
      return {
        ok: true,
        kept: step.kept,
        isNew: step.command.type === 'create',
        bytes: outcome.bytes,
      };
    rejection = outcome.rejection;
    const waitMs = waitBeforeRetryMs(rejection, application);
    if (waitMs === undefined) break;
    await delay(dependencies.clock, waitMs);
  }
  return rejection === undefined
    ? { ok: false, detail: 'concurrent writes changed the object at every attempt' }
    : { ok: false, detail: rejectionText(rejection), rejection };
}

/** Files may contain an object in any served version. The object is merged and stored in the preferred version. */
function inPreferredVersion(given: Application): Application {
  const { preferred = given.type } = given.type;
  return { ...given, type: preferred, object: preferredObject(given.object, given.type) };
}

/** Converts an object of a file from the version of `type` to the preferred version. */
export function preferredObject(object: JsonObject, { apiVersion, kind, preferred }: ResourceType): JsonObject {
  if (preferred === undefined) return object;
  return parseObject(pastAnswer(Buffer.from(JSON.stringify({ ...object, apiVersion, kind })), preferred));
}

function unexpectedly(
  { type, name, expects }: Application,
  { command }: NextStep,
  { reader }: ApplyDependencies,
): Rejection | undefined {
  if (expects === undefined) return undefined;
  if (expects === 'absent') return command?.type === 'create' ? undefined : alreadyExists(type, name).rejection;
  const stored = reader.get(type.key, name);
  const metadata = stored === undefined ? {} : objectAt(parseObject(stored.bytes), 'metadata');
  if (metadata['uid'] !== expects.uid) return { reason: 'not-found', detail: notFound(type, name) };
  return metadata['deletionTimestamp'] === undefined
    ? undefined
    : { reason: 'stale-version', detail: `${type.plural} "${name}" is being deleted` };
}

/**
 * The origin of an object, according to its last applied state. `foreign`: no plugin applied the object. `changed`:
 * users have changed the object since the plugin applied the object.
 */
export type AppliedState = 'absent' | 'foreign' | 'ours' | 'changed';

export function appliedState(
  type: ResourceType,
  name: string,
  { reader, domain }: Pick<ApplyDependencies, 'reader' | 'domain'>,
): AppliedState {
  const stored = reader.get(type.key, name);
  if (stored === undefined) return 'absent';
  const key = lastAppliedKey(domain);
  const current = parseObject(pastAnswer(stored.bytes, type));
  const base = appliedBase(current, { type, key, next: undefined });
  if (base === undefined) return 'foreign';
  // Changed finalizers are not a change by users, because reconcilers change finalizers too.
  return deepEqual(withoutFinalizers(remember(mergeableOf(current, key))), withoutFinalizers(base))
    ? 'ours'
    : 'changed';
}

type NextStep = {
  readonly command: Command | undefined;
  readonly kept: readonly string[];
};

function nextStep({ type, name, object, decides }: Application, { reader, domain }: ApplyDependencies): NextStep {
  const key = lastAppliedKey(domain);
  const shipped = mergeableOf(object, key);
  const memory = appliedText(shipped, type);
  const stored = reader.get(type.key, name);
  if (stored === undefined)
    return { command: { type: 'create', object: withAnnotation(object, key, memory) }, kept: [] };
  const current = parseObject(pastAnswer(stored.bytes, type));
  const metadata = objectAt(current, 'metadata');
  // An object that is marked for deletion is not changed: the next start creates the object again. An object that
  // cannot be converted is not changed, until a version of the plugin can convert the object.
  if (metadata['deletionTimestamp'] !== undefined || current['apiVersion'] !== type.apiVersion)
    return { command: undefined, kept: [] };
  const before = mergeableOf(current, key);
  const base = decidedBase(appliedBase(current, { type, key, next: shipped }), before, decides);
  const { value, kept } = mergeThreeWay(base, before, shipped);
  const { metadata: mergedMetadata, ...members } = value;
  const status = current['status'];
  const next = withAnnotation(
    {
      apiVersion: type.apiVersion,
      kind: type.kind,
      ...members,
      ...(status === undefined ? {} : { status }),
      metadata: {
        ...(isObject(mergedMetadata) ? mergedMetadata : {}),
        name,
        uid: metadata['uid'] ?? null,
        version: metadata['version'] ?? null,
      },
    },
    key,
    memory,
  );
  const isUnchanged = deepEqual(value, before) && objectAt(metadata, 'annotations')[key] === memory;
  return {
    command: isUnchanged ? undefined : { type: 'replace', name, object: next, part: 'main', preconditions: {} },
    kept,
  };
}

function withAnnotation(object: JsonObject, key: string, value: string): JsonObject {
  const metadata = objectAt(object, 'metadata');
  return { ...object, metadata: { ...metadata, annotations: { ...objectAt(metadata, 'annotations'), [key]: value } } };
}

/**
 * Returns `base` with the present value of `member`. A merge with this base treats the member as unchanged by users,
 * and thus chooses the shipped value.
 */
function decidedBase(
  base: JsonValue | undefined,
  current: JsonObject,
  member: string | undefined,
): JsonValue | undefined {
  const value = member === undefined ? undefined : objectAt(current, 'spec')[member];
  if (member === undefined || value === undefined) return base;
  const known = isObject(base) ? base : {};
  return { ...known, spec: { ...objectAt(known, 'spec'), [member]: remember(value) } };
}

async function write(applied: Application, command: Command, dependencies: ApplyDependencies): Promise<WriteOutcome> {
  const { type, subject, plugin, origin, cause, dryRun = false, isShipped } = applied;
  const { execute, uuid } = dependencies;
  const verb = command.type === 'create' ? 'create' : 'update';
  return execute(type, command, {
    cause: cause ?? { actor: actorOf(subject), verb, requestId: uuid(), plugin },
    dryRun,
    fieldValidation: undefined,
    origin,
    subject,
    ...(isShipped === undefined ? {} : { isShipped }),
  });
}

/**
 * Returns the delay before a retry; undefined for a permanent rejection. A retry may succeed if another node applies
 * the same object, or if the log is overloaded or unavailable.
 */
function waitBeforeRetryMs(rejection: Rejection, { dryRun = false }: Application): number | undefined {
  switch (rejection.reason) {
    case 'already-exists':
    case 'stale-version':
    case 'not-found':
      return 50;
    case 'unavailable':
      // A dry run is not retried. During an upgrade, this refusal lasts as long as the present version of the type is
      // in force.
      return dryRun ? undefined : rejection.retryAfterSeconds * 1_000;
    case 'too-many-requests':
      return rejection.retryAfterSeconds * 1_000;
    default:
      return undefined;
  }
}

export function rejectionText(rejection: Rejection): string {
  const listed = 'violations' in rejection ? rejection.violations : [];
  const violations = listed
    .filter(({ detail }) => !rejection.detail.includes(detail))
    .map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  return violations.length === 0 ? rejection.detail : `${rejection.detail} (${violations.join('; ')})`;
}

export function parseObject(bytes: Uint8Array): JsonObject {
  const decoded = decodeJson(bytes, { depthMax: jsonDepthMax });
  if (!decoded.ok || !isObject(decoded.value)) throw new Error('invariant violated: a stored object is a JSON object');
  return decoded.value;
}
