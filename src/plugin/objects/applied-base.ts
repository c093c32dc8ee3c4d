import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { convert } from '../../resource/type/versions/convert.ts';
import { recall, remember } from './three-way-merge.ts';

/** Returns the name of the annotation with the last applied state of an object, which is the base of the next merge. */
export function lastAppliedKey(domain: string): string {
  return `plugin.${domain}/last-applied`;
}

/** Returns the annotation with the last applied state: the version, and the members in a compact form. */
export function appliedText(shipped: JsonObject, { apiVersion }: Pick<ResourceType, 'apiVersion'>): string {
  const compact = remember(shipped);
  // Of a very large object, only a hash is recorded.
  return JSON.stringify(isObject(compact) ? { apiVersion, ...compact } : compact);
}

/**
 * Returns the members that both plugins and users may change. The status is omitted, because files set it only when an
 * object is created.
 */
export function mergeableOf(object: JsonObject, key: string): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, status: _status, metadata: _metadata, ...members } = object;
  const { labels, annotations, finalizers, ownerReferences } = objectAt(object, 'metadata');
  const { [key]: _memory, ...own } = isObject(annotations) ? annotations : {};
  const metadata = {
    ...(labels === undefined ? {} : { labels }),
    ...(Object.keys(own).length === 0 ? {} : { annotations: own }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
  return { ...members, metadata };
}

export type AppliedBase = {
  readonly type: ResourceType;
  /** The name of the annotation. */
  readonly key: string;
  /** The shipped object that is merged next; undefined if nothing is merged. */
  readonly next: JsonObject | undefined;
};

/**
 * Returns the last applied state of an object, in the version of `type`. Returns undefined if the object was never
 * applied, or if its annotation is invalid. A state that cannot be converted is returned in its own version, because
 * common members can still be compared. A state without a version, which earlier servers recorded, is not converted.
 */
export function appliedBase(current: JsonObject, { type, key, next }: AppliedBase): JsonValue | undefined {
  const memory = objectAt(objectAt(current, 'metadata'), 'annotations')[key];
  // Users may have overwritten the annotation with an invalid value.
  const decoded = typeof memory === 'string' ? decodeJson(Buffer.from(memory), { depthMax: jsonDepthMax }) : undefined;
  const applied = decoded?.ok === true ? decoded.value : undefined;
  if (!isObject(applied)) return applied;
  const { apiVersion, ...base } = applied;
  if (typeof apiVersion !== 'string' || apiVersion === type.apiVersion) return base;
  return type.versions?.all.includes(apiVersion) === true
    ? (convertedBase({ ...base, apiVersion }, current, { type, key, next }) ?? base)
    : base;
}

/**
 * Converts the last applied state from its own version to the version of the type. The compact form contains only
 * hashes of long values, but conversion functions expect whole values. The whole values are taken from the present
 * object and the next object, if the hashes match.
 */
function convertedBase(
  { apiVersion, ...base }: JsonObject & { readonly apiVersion: string },
  current: JsonObject,
  { type, key, next }: AppliedBase,
): JsonValue | undefined {
  const { kind } = type;
  const metadata = objectAt(current, 'metadata');
  const wholeOf = ({ metadata: own, ...members }: JsonObject, version: string): JsonObject => {
    const { labels: _l, annotations: _a, finalizers: _f, ownerReferences: _o, ...managed } = metadata;
    return { apiVersion: version, kind, ...members, metadata: { ...managed, ...objectIn(own) } };
  };
  const converted = (object: JsonObject, target: ResourceType): JsonObject | undefined => {
    const result = convert(storedObject(Buffer.from(JSON.stringify(object))), target);
    return result.ok ? mergeableOf(parsed(JSON.stringify(result.object)), key) : undefined;
  };
  const older = { ...type, apiVersion };
  const known = [
    converted(current, older),
    next === undefined ? undefined : converted(wholeOf(next, type.apiVersion), older),
  ];
  const recalled = objectIn(recall(base, known));
  const result = converted(wholeOf(recalled, apiVersion), type);
  return result === undefined ? undefined : remember(result, recalled);
}

export function objectAt(object: JsonObject, member: string): JsonObject {
  return objectIn(object[member]);
}

function objectIn(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function parsed(text: string): JsonObject {
  const decoded = decodeJson(Buffer.from(text), { depthMax: jsonDepthMax });
  return decoded.ok ? objectIn(decoded.value) : {};
}
