import { decodeEvent, isObjectEvent } from '../../../src/log/event-codec.ts';
import type { RecordedEvent } from '../../../src/log/log.ts';
import type { Change } from '../../../src/read/objects.ts';
import { entryOfFact } from '../../../src/resource/type/index-definition.ts';
import { currentObject } from '../../../src/resource/type/versions/shown-version.ts';
import type { IndexEntry, IndexKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { ChangedValues } from './type-columns.ts';

/**
 * Returns the values of an object after a change; undefined if the change modifies no stored value. `entry` is
 * undefined after a deletion.
 */
export function changedValues(change: Change, position: number): ChangedValues | undefined {
  const { name, kind, before, after } = change;
  if (kind === 'modified' && before !== undefined && after !== undefined && isEqual(before, after)) return undefined;
  return {
    position,
    name,
    entry: after,
    objects: kind === 'added' ? 1 : kind === 'deleted' ? -1 : 0,
  };
}

/**
 * Returns the values of an object after an event of the log; undefined for an event without an object. `entry` is
 * undefined after a deletion.
 */
export function valuesOfEvent(event: RecordedEvent, type: ResourceType, position: number): ChangedValues | undefined {
  const decoded = decodeEvent(event).event;
  if (!isObjectEvent(decoded) || decoded.object === undefined) return undefined;
  const isDeleted = decoded.type === 'ObjectDeleted';
  return {
    position,
    name: decoded.object.metadata.name,
    entry: isDeleted ? undefined : entryOfFact(type.indexes, currentObject(decoded.object, type)),
    objects: isDeleted ? -1 : decoded.type === 'ObjectCreated' ? 1 : 0,
  };
}

export function isEqual(a: IndexEntry, b: IndexEntry): boolean {
  if (a.created !== b.created || a.keys.length !== b.keys.length) return false;
  for (let index = 0; index < a.keys.length; index++)
    if (!areEqual(a.keys[index] ?? none, b.keys[index] ?? none)) return false;
  return a.labels === b.labels || areEqualLabels(a.labels, b.labels);
}

const none: readonly IndexKey[] = Object.freeze([]);

function areEqual(a: readonly IndexKey[], b: readonly IndexKey[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

function areEqualLabels(a: IndexEntry['labels'], b: IndexEntry['labels']): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
