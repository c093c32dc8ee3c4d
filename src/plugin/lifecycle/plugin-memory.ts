import { isList, isObject } from '../../base/guards.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { TypeName } from '../api/plugin.ts';
import { typesRememberedMax } from './life-limits.ts';

/** A reference to an object, by apiVersion, kind and name. */
export type ObjectRef = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
};

/** The names of a type, with which the objects of the type can be removed without the plugin's code. */
export type TypeNames = TypeName & {
  readonly kind: string;
  readonly singular: string;
};

/**
 * The objects and types that a plugin has created, recorded in the status of the Plugin object. Later versions and the
 * uninstall read this record, because the earlier files may be deleted. `applied` is undefined in a status that an
 * earlier version of the platform wrote. `createdOnce` lists the starter content that was created or already existed;
 * undefined if the plugin never shipped starter content.
 */
export type PluginMemory = {
  readonly applied: readonly ObjectRef[] | undefined;
  readonly createdOnce?: readonly ObjectRef[] | undefined;
  readonly types: readonly TypeNames[];
};

export function memoryOf(object: JsonObject | undefined): PluginMemory {
  const status = object?.['status'];
  if (!isObject(status)) return { applied: undefined, types: [] };
  return {
    applied: status['applied'] === undefined ? undefined : listOf(status['applied']).flatMap(refsIn),
    createdOnce: status['createdOnce'] === undefined ? undefined : listOf(status['createdOnce']).flatMap(refsIn),
    types: listOf(status['types']).flatMap(typeIn),
  };
}

/** Encodes the memory as members of the status, in canonical form. */
export function memoryStatus({ applied, createdOnce, types }: PluginMemory): JsonObject {
  return {
    ...(applied === undefined ? {} : { applied: grouped(applied) }),
    ...(createdOnce === undefined ? {} : { createdOnce: grouped(createdOnce) }),
    types: [...types].sort(byPlace),
  };
}

/**
 * Returns the types `now`, and the other types of the memory. The types of earlier plugin versions are kept, because
 * objects of these types may exist.
 */
export function withTypes({ types }: PluginMemory, now: readonly TypeNames[]): readonly TypeNames[] {
  const isCurrent = ({ group, plural }: TypeNames): boolean =>
    now.some((other) => other.group === group && other.plural === plural);
  const kept = types.filter((type) => !isCurrent(type));
  return [
    ...now.map(({ group, version, kind, singular, plural }) => ({ group, version, kind, singular, plural })),
    ...kept,
  ].slice(0, typesRememberedMax);
}

/**
 * Returns a key of the object. The key has no API version, because a later version of a plugin may ship the object in
 * another version of its type.
 */
export function refKey({ apiVersion, kind, name }: ObjectRef): string {
  const slash = apiVersion.indexOf('/');
  return `${slash === -1 ? '' : apiVersion.slice(0, slash)} ${kind} ${name}`;
}

function grouped(refs: readonly ObjectRef[]): readonly JsonObject[] {
  const groups = new Map<string, { apiVersion: string; kind: string; names: string[] }>();
  for (const { apiVersion, kind, name } of refs) {
    const group = groups.get(`${apiVersion} ${kind}`) ?? { apiVersion, kind, names: [] };
    group.names.push(name);
    groups.set(`${apiVersion} ${kind}`, group);
  }
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, { names, ...group }]) => ({ ...group, names: names.sort() }));
}

function byPlace(left: TypeNames, right: TypeNames): number {
  const [one, other] = [left, right].map(({ group, plural }) => `${group}/${plural}`);
  return String(one) < String(other) ? -1 : 1;
}

/** Decodes object references, and ignores invalid entries. */
function refsIn(group: JsonValue): readonly ObjectRef[] {
  if (!isObject(group)) return [];
  const { apiVersion, kind, names } = group;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
  return listOf(names).flatMap((name) => (typeof name === 'string' ? [{ apiVersion, kind, name }] : []));
}

function typeIn(value: JsonValue): readonly TypeNames[] {
  if (!isObject(value)) return [];
  const { group, version, kind, singular, plural } = value;
  if (
    typeof group !== 'string' ||
    typeof version !== 'string' ||
    typeof kind !== 'string' ||
    typeof singular !== 'string' ||
    typeof plural !== 'string'
  )
    return [];
  return [{ group, version, kind, singular, plural }];
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}
