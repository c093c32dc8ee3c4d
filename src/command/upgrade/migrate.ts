import { deepEqual } from '../../base/json.ts';
import { isObject } from '../../base/guards.ts';
import { hookDetailLengthMax } from '../../limits/rules.ts';
import type { JsonObject, ResourceObject } from '../../resource/object/object.ts';
import { frozen } from '../../resource/type/index-values.ts';
import { ForeignValueError, plainJson } from '../../resource/object/foreign-json.ts';

/** A step of a migration. A step is code of a plugin, so the step may throw any value and return any value. */
export type MigrationStep = (object: unknown) => unknown;

export type Migrated =
  /** `object` is the object in the new form; undefined if nothing changes. */
  | { readonly ok: true; readonly object: JsonObject | undefined }
  | { readonly ok: false; readonly problem: string; readonly thrown?: unknown };

/**
 * Runs a step on an object. The result must be JSON with the same apiVersion, kind and managed metadata. A second run
 * of the step must not change the result, because a repeated migration would otherwise never end.
 */
export function migrate(up: MigrationStep, object: ResourceObject): Migrated {
  const once = run(up, object);
  if (!once.ok || once.object === undefined) return once;
  const result = once.object;
  if (!deepEqual(identityOf(result), identityOf(object)))
    return refused(
      'it changes apiVersion, kind or metadata that the server manages; only labels, annotations, finalizers and ' +
        'ownerReferences of the metadata may change',
    );
  const twice = run(up, result);
  if (!twice.ok) return { ...twice, problem: `${twice.problem}, when it ran again on its result` };
  return twice.object === undefined
    ? once
    : refused('the step changes it again, so the step is not idempotent; check for the old form first');
}

function run(up: MigrationStep, given: JsonObject | ResourceObject): Migrated {
  try {
    const result = up(frozen(given));
    if (result instanceof Promise) result.catch(() => undefined);
    if (isObject(result) && typeof result['then'] === 'function')
      return { ok: false, problem: 'returned a promise; steps must be synchronous' };
    if (result === undefined || result === given) return { ok: true, object: undefined };
    const copy = plainJson(result, given);
    if (!isJsonObject(copy)) return refused(`it is ${kindOf(copy)}, not an object`);
    return { ok: true, object: deepEqual(copy, given) ? undefined : copy };
  } catch (thrown) {
    return faultBy(thrown);
  }
}

/** Call this only with plain JSON: the type predicate does not check the members. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function faultBy(thrown: unknown): Migrated {
  try {
    if (thrown instanceof ForeignValueError) return refused(thrown.message);
    const message = thrown instanceof Error ? thrown.message : typeof thrown;
    return { ok: false, problem: `threw: ${message.slice(0, hookDetailLengthMax)}`, thrown };
  } catch {
    // Reading a value that a plugin threw may throw again.
    return { ok: false, problem: 'threw an error that cannot be printed' };
  }
}

function refused(detail: string): Extract<Migrated, { ok: false }> {
  return { ok: false, problem: `returned a wrong result: ${detail}` };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

function identityOf({ apiVersion, kind, metadata }: JsonObject | ResourceObject): object {
  const {
    labels: _labels,
    annotations: _annotations,
    finalizers: _finalizers,
    ownerReferences: _owners,
    ...managed
  } = isObject(metadata) ? metadata : {};
  return { apiVersion, kind, managed };
}
