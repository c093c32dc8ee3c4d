import type { LogPosition } from '../log/log.ts';
import type { ListQuery } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { ListPage } from './objects.ts';

export type ListAtOptions = {
  /** A position of this epoch that this node has folded. */
  readonly position: LogPosition;
  /** Accounts take turns. */
  readonly account: string;
  readonly signal: AbortSignal;
};

/** Lists of objects as they were at a position of the log. */
export type ListsAt = {
  /**
   * The list as it was answered at the position. Undefined while the values of the type's objects are being read from
   * the log, as after its indexes have changed. Rejects with the error of `signal` if that is first.
   *
   * @throws NotServedError if the type's indexes change meanwhile.
   * @throws UnreadableLogError if the log cannot be read now; so does the iteration of the items.
   */
  listAt(type: ResourceType, query: ListQuery, options: ListAtOptions): Promise<ListPage | undefined>;
};

/** The log does not answer, or not yet with what this node has folded. */
export class UnreadableLogError extends Error {
  constructor(cause: unknown) {
    super('the event log cannot be read now', { cause });
    this.name = 'UnreadableLogError';
  }
}
