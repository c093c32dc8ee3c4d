import type { LogPosition } from '../../../src/log/log.ts';
import { isEnforced, type Declared } from '../../../src/read/declarations.ts';
import type { Duplicate } from '../../../src/read/uniqueness.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';

/** A type with indexes that are to be enforced. */
export type UniqueTask = {
  readonly type: ResourceType;
  /** Of the declaration. */
  readonly revision: number;
  /** Nodes are waited for until they are drained up to here. */
  readonly position: LogPosition;
  step: 'pending' | 'claiming';
  /** All objects are to be looked at. */
  isDue: boolean;
  /** Those of `duplicates` that are to be looked at again. */
  readonly again: Set<string>;
  readonly duplicates: Map<string, Duplicate>;
  duplicateCount: number;
  /** In a row. */
  failures: number;
};

/** `position`: that of the last folded event, at or after the declaration. */
export function uniqueTask(type: ResourceType, { revision }: Declared, position: LogPosition): UniqueTask {
  return {
    type,
    revision,
    position,
    step: 'pending',
    isDue: true,
    again: new Set(),
    duplicates: new Map(),
    duplicateCount: 0,
    failures: 0,
  };
}

/** The unique indexes of a declaration that are not enforced. */
export function unenforced(standing: Declared): readonly string[] {
  return Object.keys(standing.since).filter((index) => !isEnforced(standing, index));
}
