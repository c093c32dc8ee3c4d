import type { Leadership } from '../../../src/read/leadership.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { EventMetadata } from '../../../src/command/event.ts';
import type { EventLog, LogPosition } from '../../../src/log/log.ts';
import type { DeclarationFeed } from '../../../src/read/declarations.ts';
import type { ChangeFeed, ObjectReader } from '../../../src/read/objects.ts';
import type { UniqueStep } from '../../../src/read/uniqueness.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { ObjectClaimsDependencies } from './object-claims.ts';

export type UniquenessDependencies = ObjectClaimsDependencies & {
  readonly log: Pick<EventLog, 'append' | 'readLast' | 'subscribe' | 'head'>;
  readonly reader: Pick<ObjectReader, 'position' | 'reached'>;
  readonly changes: ChangeFeed;
  readonly declarations: ObjectClaimsDependencies['declarations'] & DeclarationFeed;
  readonly leadership: Leadership;
  /** No other node writes to this log. */
  readonly isAlone: boolean;
  readonly node: string;
  /** Up to where this node is drained, once what can be settled is. */
  readonly drain: () => Promise<LogPosition>;
  readonly served: () => readonly ResourceType[];
  readonly clock: Clock;
  readonly metadata: () => EventMetadata;
  /** The type's indexes have come a step further, or other objects keep them from it. */
  readonly onStep: (type: ResourceType) => void;
  readonly onEnforced: (type: ResourceType, indexes: readonly string[]) => void;
  /** Other duplicates were found than before. */
  readonly onDuplicates: (found: Pick<UniqueStep, 'type' | 'duplicates' | 'duplicateCount'>) => void;
  readonly onError: (error: unknown, type: string) => void;
};
