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
  /** The name of this node, which identifies its own heartbeats. */
  readonly node: string;
  /**
   * Resolves pending appends as far as possible. Returns the position up to which this node is drained. No pending
   * append was decided under a declaration that was replaced at or before this position.
   */
  readonly drain: () => Promise<LogPosition>;
  /** Returns the types that this node serves. Only the indexes of these types are enforced. */
  readonly served: () => readonly ResourceType[];
  readonly clock: Clock;
  readonly metadata: () => EventMetadata;
  /**
   * Called when the `UniqueStep` of the type begins, changes or ends. The step is `pending` until all nodes are
   * drained, then `claiming` until no duplicates are left.
   */
  readonly onStep: (type: ResourceType) => void;
  /** Called when this node has folded the event that enforces the indexes of the type. */
  readonly onEnforced: (type: ResourceType, indexes: readonly string[]) => void;
  /** Called when the set of found duplicates changes. */
  readonly onDuplicates: (found: Pick<UniqueStep, 'type' | 'duplicates' | 'duplicateCount'>) => void;
  /**
   * Called with an error after which the work is retried. `type`: the key of the type, or empty while waiting for
   * nodes.
   */
  readonly onError: (error: unknown, type: string) => void;
};
