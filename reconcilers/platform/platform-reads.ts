import type { Leadership } from '../../src/read/leadership.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Execute } from '../../src/write/execute.ts';
import type { ChangeFeed, ObjectReader } from '../../src/read/objects.ts';
import { indexOf, type Selection } from '../../src/resource/query/list-query.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import type { ReconcileSlots } from '../reconcile-slots.ts';
import type { Read } from './platform-writes.ts';

/** The dependencies of all platform reconcilers. */
export type PlatformDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: ObjectReader;
  readonly execute: Execute;
  readonly leadership: Leadership;
  readonly bound: ReconcileSlots;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, key: string) => void;
};

/** Reads an object with its type and position. The type need not be served. */
export function readObject(reader: ObjectReader, type: ResourceType, name: string): Read | undefined {
  const stored = reader.get(type.key, name);
  return stored === undefined
    ? undefined
    : {
        type,
        object: storedObject(stored.bytes),
        resourceVersion: stored.position.toString(),
      };
}

type Fields = Selection['fields'];

/** The names of the objects of a served type, read page by page. Without `fields`, all objects are selected. */
export function* namesOf(reader: ObjectReader, { key }: ResourceType, fields: Fields = []): Iterable<string> {
  for (const page of reader.pages(key, { selection: { labels: [], fields }, sort: [] })) yield* page;
}

/** The names of the objects of a served type that are marked for deletion, in the order of the deletion timestamps. */
export function* markedOf(reader: ObjectReader, { key, indexes }: ResourceType): Iterable<string> {
  const index = indexOf(indexes, 'metadata.deletionTimestamp');
  if (index === undefined) return;
  const selection = { labels: [], fields: [{ index, operator: 'exists' as const }] };
  for (const page of reader.pages(key, { selection, sort: [{ index, direction: 'asc' }] })) yield* page;
}
