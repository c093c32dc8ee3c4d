import type { Clock } from '../../../src/base/clock.ts';
import { columnReadsMax, columnsWaitMs } from '../../../src/limits/columns.ts';
import { listJoinedBytesMax, listSliceBytesMax } from '../../../src/limits/lists.ts';
import type { ListAtOptions, ListsAt } from '../../../src/read/lists-at.ts';
import type { ListPage } from '../../../src/read/objects.ts';
import type { ListQuery } from '../../../src/resource/query/list-query.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { QueryResult } from '../../index/index-choice.ts';
import type { ColumnPart } from './column-part.ts';
import type { ObjectsAt } from './objects-at.ts';
import { QueryTurns } from './query/query-turns.ts';

type ColumnListsDependencies = {
  readonly columns: Pick<ColumnPart, 'query' | 'ready'>;
  readonly objects: ObjectsAt;
  readonly clock: Clock;
};

type Page = {
  readonly type: ResourceType;
  readonly names: readonly string[];
  readonly options: ListAtOptions;
};

/** Serves lists at past positions. Selects the objects by columns, and reads the objects of the page from the log. */
export class ColumnLists implements ListsAt {
  readonly #columns: ColumnListsDependencies['columns'];
  readonly #objects: ObjectsAt;
  readonly #turns: QueryTurns;

  constructor({ columns, objects, clock }: ColumnListsDependencies) {
    this.#columns = columns;
    this.#objects = objects;
    this.#turns = new QueryTurns(clock);
  }

  async listAt(type: ResourceType, query: ListQuery, options: ListAtOptions): Promise<ListPage | undefined> {
    await this.#columns.ready(type, columnsWaitMs, options.signal);
    options.signal.throwIfAborted();
    const result = await this.#chosen(type, query, options);
    return result === undefined ? undefined : this.#page(result, { type, names: result.names, options });
  }

  /** Resolves with undefined while the columns are incomplete. */
  async #chosen(type: ResourceType, query: ListQuery, options: ListAtOptions): Promise<QueryResult | undefined> {
    const columns = this.#columns;
    return this.#turns.run(options, function* () {
      const steps = columns.query(type, options.position, query);
      return steps === undefined ? undefined : yield* steps;
    });
  }

  /** Reads a small page at once. The rest of a larger page is read while the response is sent. */
  async #page({ total, next, remaining }: QueryResult, page: Page): Promise<ListPage> {
    const listed = {
      position: page.options.position,
      total,
      count: page.names.length,
      next,
      remaining,
    };
    const slices = this.#slices(page);
    const read: Buffer[] = [];
    for (let bytes = 0; bytes <= listJoinedBytesMax;) {
      const slice = await slices.next();
      if (slice.done === true) return { ...listed, items: joined(read) };
      read.push(slice.value);
      bytes += slice.value.length;
    }
    return { ...listed, items: () => continued(joined(read), slices) };
  }

  /** Yields the JSON of the page's objects in slices of one or more objects, joined with commas. */
  async *#slices({ type, names, options }: Page): AsyncGenerator<Buffer, undefined, undefined> {
    let slice: Buffer[] = [];
    let bytes = 0;
    for (let from = 0; from < names.length; from += columnReadsMax) {
      options.signal.throwIfAborted();
      const some = names.slice(from, from + columnReadsMax);
      const objects = await Promise.all(some.map(async (name) => this.#objects.read(type, name, options.position)));
      slice.push(...objects);
      bytes += objects.reduce((sum, { length }) => sum + length, 0);
      if (bytes < listSliceBytesMax) continue;
      yield joined(slice);
      [slice, bytes] = [[], 0];
      await this.#turns.next(options);
    }
    if (slice.length > 0) yield joined(slice);
  }
}

async function* continued(
  first: Buffer,
  rest: AsyncGenerator<Buffer, undefined, undefined>,
): AsyncGenerator<Buffer, undefined, undefined> {
  yield first;
  yield* rest;
}

const comma = Buffer.from(',');

function joined(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part])));
}
