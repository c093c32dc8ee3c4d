import { createHash } from 'node:crypto';

import { indexesPerTypeMax } from '../../limits/objects.ts';
import type { IndexEntry } from './index-entry.ts';
import { keyOfText, kindOf, timestampMs } from './index-key.ts';
import { decodeIndexSpec, type IndexSpec } from './index-spec.ts';
import { frozen, IndexValueError, keysOf, valueAt } from './index-values.ts';
import type { ResourceObject } from '../object/object.ts';
import type { IndexDefinition } from './resource-type.ts';

export type DefinedIndexes =
  /** `specs`: the declared indexes, without the default indexes. */
  | {
      readonly ok: true;
      readonly indexes: readonly IndexDefinition[];
      readonly specs: readonly IndexSpec[];
      readonly fingerprint: string;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The version of the computation of index keys. Increase this version if a change of the code gives an object other
 * keys under the same declaration.
 */
export const keysGeneration = 1;

export const nameIndex = 'metadata.name';
export const creationIndex = 'metadata.creationTimestamp';
export const deletionIndex = 'metadata.deletionTimestamp';

const defaultSpecs: readonly IndexSpec[] = [
  { name: nameIndex, unique: true },
  { name: creationIndex, type: 'timestamp' },
  { name: deletionIndex, type: 'timestamp' },
];
const reservedNames = new Set([...defaultSpecs.map((spec) => spec.name), 'metadata.labels']);

/** The indexes of every type (seed 2.6), at the same positions in all types. */
export const defaultIndexes: readonly IndexDefinition[] = defaultSpecs.map(definitionOf);

/**
 * Validates declared indexes. Returns the default indexes followed by the indexes of `specs` in order. `specs` comes
 * from a plugin and may be any value.
 */
export function defineIndexes(specs: unknown): DefinedIndexes {
  if (specs !== undefined && !Array.isArray(specs))
    return { ok: false, problems: [`indexes: must be an array, is ${kindOf(specs)}`] };
  const raw: readonly unknown[] = specs ?? [];
  if (raw.length + defaultSpecs.length > indexesPerTypeMax) {
    return {
      ok: false,
      problems: [
        `indexes: a type has at most ${String(indexesPerTypeMax)} indexes including the ` +
          `${String(defaultSpecs.length)} default indexes, ${String(raw.length)} are declared`,
      ],
    };
  }
  const problems: string[] = [];
  const seen = new Set<string>();
  const decoded = Array.from(raw, (spec, index) => decodeIndexSpec(spec, `indexes[${String(index)}]`, problems)).filter(
    (spec) => spec !== undefined,
  );
  for (const { name } of decoded) {
    if (reservedNames.has(name))
      problems.push(`index ${JSON.stringify(name)}: is a default index and must not be declared`);
    else if (seen.has(name)) problems.push(`index ${JSON.stringify(name)}: is declared twice`);
    seen.add(name);
  }
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    indexes: [...defaultIndexes, ...decoded.map(definitionOf)],
    specs: decoded,
    fingerprint: fingerprintOf(decoded),
  };
}

/**
 * Returns a hash of the index declarations, including the source texts of their functions. A source text does not
 * contain the variables that the function captures, so a change of such a variable does not change the hash.
 */
export function fingerprintOf(specs: readonly IndexSpec[]): string {
  const declared = specs.map(({ name, type, order, unique, multi, indexFunc }) => [
    name,
    type ?? 'string',
    order ?? 'ASC',
    unique ?? false,
    multi ?? false,
    indexFunc === undefined ? '' : Function.prototype.toString.call(indexFunc),
  ]);
  return createHash('sha256')
    .update(JSON.stringify([keysGeneration, declared]))
    .digest('hex')
    .slice(0, 32);
}

/** @throws IndexValueError if an index cannot index the object, or if the creationTimestamp is invalid. */
export function entryOf(indexes: readonly IndexDefinition[], object: ResourceObject): IndexEntry {
  const { name, creationTimestamp, labels } = object.metadata;
  const created = timestampMs(creationTimestamp);
  if (created === undefined)
    throw new IndexValueError(creationIndex, `${JSON.stringify(creationTimestamp)} is not a timestamp`);
  return {
    name,
    created,
    labels: labels ?? {},
    keys: indexes.map((index) => index.keysOf(object)),
  };
}

/**
 * Returns the index entry of a stored object. An event is a fact, so an index that cannot index the object must not
 * stop the fold. The object then has no keys in the index, and `onError` is called.
 */
export function entryOfFact(
  indexes: readonly IndexDefinition[],
  object: ResourceObject,
  onError?: (error: IndexValueError) => void,
): IndexEntry {
  const { name, creationTimestamp, labels } = object.metadata;
  const keys = indexes.map((index) => {
    try {
      return index.keysOf(object);
    } catch (error) {
      if (!(error instanceof IndexValueError)) throw error;
      onError?.(error);
      return [];
    }
  });
  return { name, created: timestampMs(creationTimestamp) ?? 0, labels: labels ?? {}, keys };
}

function definitionOf(spec: IndexSpec): IndexDefinition {
  const { name, type = 'string', order = 'ASC', unique = false, multi = false } = spec;
  const path = name.split('.');
  const { indexFunc } = spec;
  const indexedValue =
    indexFunc === undefined
      ? (object: ResourceObject) => valueAt(object, path)
      : (object: ResourceObject) => indexFunc(frozen(object));
  const keyed = { name, type, multi, isComputed: indexFunc !== undefined };
  return {
    name,
    type,
    order,
    unique,
    multi,
    fingerprint: fingerprintOf([spec]),
    keysOf: (object) => keysOf(keyed, indexedValue, object),
    keyOf: (operand) => keyOfText(type, operand),
  };
}
