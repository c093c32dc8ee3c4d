import type { LogPosition } from '../log/log.ts';
import type { ListQuery } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { ListPage } from './objects.ts';

export type ListAtOptions = {
  /** A position of this epoch that this node has folded. */
  readonly position: LogPosition;
  /** The account of the client. Turns of the event loop are shared among the queries of different accounts. */
  readonly account: string;
  readonly signal: AbortSignal;
};

/** Returns lists of objects in their state at a position of the log. */
export type ListsAt = {
  /**
   * Returns the list in its state at the position. Resolves with undefined while this node reads the values of the
   * type's objects from the log, for example after a change of the type's indexes. Rejects with the error of `signal`
   * if `signal` aborts first.
   *
   * @throws NotServedError if the type's indexes change during the read.
   *
   * @throws UnreadableLogError if the log cannot be read now. The iteration of the items throws this error too.
   */
  listAt(type: ResourceType, query: ListQuery, options: ListAtOptions): Promise<ListPage | undefined>;
};

/** The log is unavailable, or does not yet return an event that this node has folded. */
export class UnreadableLogError extends Error {
  constructor(cause: unknown) {
    super('the event log cannot be read now', { cause });
    this.name = 'UnreadableLogError';
  }
}
