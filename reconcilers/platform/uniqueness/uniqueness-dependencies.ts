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
  /** Whether no other node writes to this log. */
  readonly isAlone: boolean;
  readonly node: string;
  /** Resolves pending appends as far as possible. Returns the position up to which this node is drained. */
  readonly drain: () => Promise<LogPosition>;
  readonly served: () => readonly ResourceType[];
  readonly clock: Clock;
  readonly metadata: () => EventMetadata;
  /** Called when the indexes of the type start their next step, or when duplicates block them. */
  readonly onStep: (type: ResourceType) => void;
  readonly onEnforced: (type: ResourceType, indexes: readonly string[]) => void;
  /** Called when the set of found duplicates changes. */
  readonly onDuplicates: (found: Pick<UniqueStep, 'type' | 'duplicates' | 'duplicateCount'>) => void;
  readonly onError: (error: unknown, type: string) => void;
};
