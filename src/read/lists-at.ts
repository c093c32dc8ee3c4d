import type { LogPosition } from '../log/log.ts';
import type { ListQuery } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { ListPage } from './objects.ts';

export type ListAtOptions = {
  /** A position of this epoch that this node has folded. */
  readonly position: LogPosition;
  /** The account of the client. Queries of different accounts share the turns of the event loop. */
  readonly account: string;
  readonly signal: AbortSignal;
};

/** Returns lists of objects in their state at a position of the log. */
export type ListsAt = {
  /**
   * Returns the list in its state at the position. Resolves with undefined while this node reads the values of the
   * type's objects from the log. Rejects with the reason of `signal` after an abort.
   *
   * @throws NotServedError if the type's indexes change during the read.
   * @throws UnreadableLogError if the log cannot be read now, also during the iteration of the items.
   */
  listAt(type: ResourceType, query: ListQuery, options: ListAtOptions): Promise<ListPage | undefined>;
};

/** The log is unavailable, or lacks an event that this node has folded. */
export class UnreadableLogError extends Error {
  constructor(cause: unknown) {
    super('the event log cannot be read now', { cause });
    this.name = 'UnreadableLogError';
  }
}
