import type { ResourceObject } from '../../object/object.ts';
import { noDefaults } from '../../schema/defaults/compile-defaults.ts';
import type { ResourceType } from '../resource-type.ts';
import { convert, type Conversion } from './convert.ts';

/**
 * Returns a stored object as reads return it: in the preferred version, with the defaults of the schema. Returns the
 * same reference if nothing changes. If the object cannot be converted, records a fault and returns the object
 * unchanged.
 */
export function currentObject(object: ResourceObject, type: ResourceType): ResourceObject {
  const current = currentConversion(object, type);
  return current.ok ? current.object : object;
}

/** Like `currentObject`, but returns the reason why an object cannot be converted. */
export function currentConversion(object: ResourceObject, type: ResourceType): Conversion {
  const converted = convert(object, type);
  if (!converted.ok) report(type, object, converted);
  if (!converted.ok || type.fillDefaults === noDefaults) return converted;
  const { apiVersion, kind, metadata, ...members } = converted.object;
  const filled = type.fillDefaults(members) ?? members;
  return filled === members ? converted : { ok: true, object: { apiVersion, kind, metadata, ...filled } };
}

/**
 * Converts the JSON of a stored object, which includes its resourceVersion, to the preferred version, and fills in the
 * defaults.
 */
export function currentAnswer(answer: Uint8Array, type: ResourceType): Uint8Array {
  if (type.fillDefaults === noDefaults && isInVersion(answer, type)) return answer;
  const object = parsed(answer);
  const current = currentObject(object, type);
  return current === object ? answer : Buffer.from(JSON.stringify(current));
}

/**
 * Converts an object to the version of `type`, which may be any served version. If the object cannot be converted,
 * records a fault and returns the object unchanged.
 */
export function versionedObject(object: ResourceObject, type: ResourceType): ResourceObject {
  const converted = convert(object, type);
  if (converted.ok) return converted.object;
  report(type, object, converted);
  return object;
}

/** Converts the JSON of an object in the preferred version to the version of `type`. */
export function versionedAnswer(answer: Uint8Array, type: ResourceType): Uint8Array {
  if (type.preferred === undefined || isInVersion(answer, type)) return answer;
  return Buffer.from(JSON.stringify(versionedObject(parsed(answer), type)));
}

/**
 * Converts the JSON of an earlier state of an object, which may have any version, to the version of `type`. Defaults
 * are not filled in, because the earlier state did not have them.
 */
export function pastAnswer(answer: Uint8Array, type: ResourceType): Uint8Array {
  if (isInVersion(answer, type)) return answer;
  return Buffer.from(JSON.stringify(versionedObject(parsed(answer), type)));
}

/** Converts the JSON of objects in the preferred version, separated by commas, to the version of `type`. */
export function versionedItems(items: Uint8Array, type: ResourceType): Uint8Array {
  if (type.preferred === undefined || items.length === 0) return items;
  const objects = JSON.parse(`[${textOf(items)}]`) as readonly ResourceObject[];
  return Buffer.from(objects.map((object) => JSON.stringify(versionedObject(object, type))).join());
}

/** Whether the JSON has the version and kind of the type, which are always the first members. */
function isInVersion(answer: Uint8Array, type: ResourceType): boolean {
  let opening = openings.get(type);
  if (opening === undefined) {
    const { apiVersion, kind } = type;
    opening = Buffer.from(`${JSON.stringify({ apiVersion, kind }).slice(0, -1)},`);
    openings.set(type, opening);
  }
  return answer.length >= opening.length && opening.compare(answer, 0, opening.length) === 0;
}

const openings = new WeakMap<ResourceType, Buffer>();

function report(
  { versions }: ResourceType,
  { metadata: { name } }: ResourceObject,
  { problem, thrown }: Extract<Conversion, { readonly ok: false }>,
): void {
  versions?.faults.record({ name, problem, thrown });
}

function parsed(answer: Uint8Array): ResourceObject {
  return JSON.parse(textOf(answer)) as ResourceObject;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
