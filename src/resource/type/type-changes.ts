import { isList, isObject } from '../../base/guards.ts';
import { escapeToken } from '../../base/reference-token.ts';
import type { TypeKey } from './index-entry.ts';
import type { ResourceType } from './resource-type.ts';

export type RemovedType = {
  readonly type: TypeKey;
  readonly kind: string;
};

type RemovedVersion = {
  readonly type: string;
  readonly version: string;
};

type RequiredMember = {
  readonly type: string;
  /** A JSON pointer into objects of the type; `*` is any element of an array. */
  readonly pointer: string;
  /** Whether the same version of the type did not require the member before. */
  readonly wasOptional: boolean;
};

/** The differences between the types of two versions of a plugin. A type is named by its key. */
export type TypeChanges = {
  readonly removedTypes: readonly RemovedType[];
  /** Removed versions of types that still have another version. */
  readonly removedVersions: readonly RemovedVersion[];
  /** The indexes for which the values of all objects are computed again. */
  readonly indexes: readonly {
    readonly type: string;
    readonly name: string;
    /** `unique`: the index existed before and becomes unique. */
    readonly change: 'added' | 'changed' | 'unique';
  }[];
  /**
   * The members that the preferred version requires now, but that were optional before, in this version or in stored
   * objects.
   */
  readonly required: readonly RequiredMember[];
};

export function compareTypes(before: readonly ResourceType[], after: readonly ResourceType[]): TypeChanges {
  const pairs = after.flatMap((type) => {
    const earlier = before.find(({ key }) => key === type.key);
    return earlier === undefined ? [] : [{ earlier, type }];
  });
  return {
    removedTypes: before
      .filter(({ key }) => !after.some((type) => type.key === key))
      .map(({ key, kind }) => ({ type: key, kind })),
    removedVersions: pairs.flatMap(({ earlier, type }) => {
      const present = servedVersions(type);
      return servedVersions(earlier)
        .filter((version) => !present.includes(version))
        .map((version) => ({ type: type.key, version }));
    }),
    indexes: pairs.flatMap(({ earlier, type }) => changedIndexes(earlier, type)),
    required: pairs.flatMap(({ earlier, type }) => newlyRequired(earlier, type)),
  };
}

function servedVersions(type: ResourceType): readonly string[] {
  return servedTypes(type).map(({ version }) => version);
}

function servedTypes(type: ResourceType): readonly ResourceType[] {
  return type.versions?.served ?? [type];
}

function newlyRequired(earlier: ResourceType, type: ResourceType): readonly RequiredMember[] {
  const stored = new Set(requiredPointers(earlier.schema));
  const same = servedTypes(earlier).find(({ version }) => version === type.version);
  const sent = same === undefined ? undefined : new Set(requiredPointers(same.schema));
  return requiredPointers(type.schema)
    .map((pointer) => ({ type: type.key, pointer, wasOptional: sent?.has(pointer) === false }))
    .filter(({ pointer, wasOptional }) => wasOptional || !stored.has(pointer));
}

function changedIndexes(earlier: ResourceType, type: ResourceType): TypeChanges['indexes'] {
  const before = new Map(earlier.indexes.map((index) => [index.name, index]));
  return type.indexes.flatMap(({ name, unique, fingerprint }) => {
    const present = before.get(name);
    if (present?.fingerprint === fingerprint) return [];
    const change = present === undefined ? 'added' : unique && !present.unique ? 'unique' : 'changed';
    return [{ type: type.key, name, change }];
  });
}

const depthMax = 32;
const pointersMax = 1_000;

/**
 * Returns the pointers of the required members of the schema, and of the schemas within its `properties`, `items` and
 * `allOf`. Very large schemas are not read completely (`depthMax`, `pointersMax`).
 */
function requiredPointers(schema: unknown): readonly string[] {
  const found = new Set<string>();
  collect(schema, '', 0, found);
  return [...found];
}

function collect(schema: unknown, at: string, depth: number, found: Set<string>): void {
  if (!isObject(schema) || depth > depthMax || found.size >= pointersMax) return;
  const { required, properties, items, allOf } = schema;
  if (isList(required))
    for (const member of required) if (typeof member === 'string') found.add(`${at}/${escapeToken(member)}`);
  if (isObject(properties))
    for (const [member, inner] of Object.entries(properties))
      collect(inner, `${at}/${escapeToken(member)}`, depth + 1, found);
  collect(items, `${at}/*`, depth + 1, found);
  if (isList(allOf)) for (const part of allOf) collect(part, at, depth + 1, found);
}
