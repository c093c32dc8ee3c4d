import type { LogPosition } from '../../../src/log/log.ts';
import { isEnforced, type Declared } from '../../../src/read/declarations.ts';
import type { Duplicate } from '../../../src/read/uniqueness.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';

/** A type with unique indexes that are not enforced yet. */
export type UniqueTask = {
  readonly type: ResourceType;
  /** The revision of the declaration. */
  readonly revision: number;
  /** The work starts when all nodes are drained up to this position. */
  readonly position: LogPosition;
  step: 'pending' | 'claiming';
  /** Whether all objects must be checked. */
  isDue: boolean;
  /** The names in `duplicates` that must be checked again. */
  readonly again: Set<string>;
  readonly duplicates: Map<string, Duplicate>;
  duplicateCount: number;
  /** The number of consecutive failures. */
  failures: number;
};

/** `position`: the position of the last folded event, which is not before the declaration. */
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
