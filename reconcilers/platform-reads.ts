import type { Clock } from '../src/base/clock.ts';
import type { Execute } from '../src/execute.ts';
import type { ChangeFeed, ObjectReader } from '../src/read/objects.ts';
import { indexOf, type Selection } from '../src/resource/list-query.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { storedObject } from '../src/resource/shown-object.ts';
import type { ReconcileBound } from './bound.ts';
import type { Leadership } from './lease.ts';
import type { Read } from './platform-writes.ts';

/** What each of the platform's reconcilers is given. */
export type PlatformDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: ObjectReader;
  readonly execute: Execute;
  readonly leadership: Leadership;
  readonly bound: ReconcileBound;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, key: string) => void;
};

/** An object of a type whose rows are kept, whether or not it is served. */
export function readObject(reader: ObjectReader, type: ResourceType, name: string): Read | undefined {
  const stored = reader.get(type.key, name);
  return stored === undefined ? undefined : { type, object: storedObject(stored.bytes), resourceVersion: stored.position.toString() };
}

/** Names of a served type's objects: all, or those selected. */
export function namesOf(reader: ObjectReader, { key }: ResourceType, fields: Selection['fields'] = []): readonly string[] {
  return reader.names(key, { selection: { labels: [], fields }, sort: [], window: { kind: 'all' } });
}

/** … of those marked for deletion. */
export function markedOf(reader: ObjectReader, type: ResourceType): readonly string[] {
  const index = indexOf(type.indexes, 'metadata.deletionTimestamp');
  return index === undefined ? [] : namesOf(reader, type, [{ index, operator: 'exists' }]);
}
