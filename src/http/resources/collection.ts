import { listCacheAgeMs, listCacheQueryLengthMax, snapshotHoldMsMax } from '../../limits/lists.ts';
import type { LogPosition } from '../../log/log.ts';
import { accountOf, clientOf, type Client } from '../../read/client.ts';
import { UnreadableLogError, type ListsAt } from '../../read/lists-at.ts';
import { SnapshotsExhaustedError, type ListPage, type LongList } from '../../read/objects.ts';
import type { SnapshotSlot } from '../../read/snapshot-slots.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { bytesAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import { decodeListQuery, type ListRequest } from './decode-list-query.ts';
import { writeContext } from './decode-write.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import { staleness } from './await-position.ts';
import { written, writtenHeaders, type ResourcePorts } from './item.ts';
import type { ListCache } from './list-cache.ts';
import { envelopeHead, envelopeTail } from './list-envelope.ts';
import { resolveMoment, resolvePosition, timeAsked, type MomentPorts, type Resolved } from './past/moment.ts';
import { problem } from '../problem.ts';
import type { Representation } from '../representation/representation.ts';
import { requestedForm } from '../representation/requested-form.ts';
import { formInVersion } from '../representation/versioned-form.ts';
import { readObject } from '../body/read-object.ts';

/** `key` is the cache key of a list; undefined if the response is not cached. `form` is undefined for plain objects. */
type Keyed = {
  readonly key: string | undefined;
  readonly form: Representation | undefined;
};
type Asked = Keyed & {
  readonly request: ListRequest;
  /** The time to which ages in a table relate, in epoch milliseconds; undefined for the time of the response. */
  readonly timeMs?: number | undefined;
};
/** The reader of lists at past positions, with the audit indexes that such lists require. */
export type PastLists = MomentPorts['audit'] & { readonly lists: ListsAt };
type AskedPast = {
  readonly asked: Asked;
  readonly past: PastLists;
};
type SlotHolder = Asked & {
  readonly exchange: Exchange;
  readonly slot: SnapshotSlot;
};
type Streamed = {
  readonly page: Omit<ListPage, 'items'>;
  readonly items: AsyncIterable<Uint8Array>;
};
type JoinedPage = Omit<ListPage, 'items'> & { readonly items: Uint8Array };

type CollectionExtras = {
  readonly cache?: ListCache;
  readonly past?: PastLists;
};

/** The generated API of a collection, except for deletion. */
export class Collections {
  readonly #ports: ResourcePorts;
  readonly #cache: ListCache | undefined;
  readonly #past: PastLists | undefined;

  /**
   * Callers that see different objects must not share a `cache`, because its key does not contain the caller. Without
   * `past`, the parameter `at` is refused.
   */
  constructor(ports: ResourcePorts, { cache, past }: CollectionExtras = {}) {
    this.#ports = ports;
    this.#cache = cache;
    this.#past = past;
  }

  list(exchange: Exchange, type: ResourceType): Answer | Promise<Answer> {
    const requested = requestedForm(exchange, type);
    if (!requested.ok) return refusal(requested.problem);
    const form = formInVersion(type, requested.form);
    const keyed = { form, key: this.#keyOf(exchange, type, form) };
    const cached = this.#cached(exchange, type, keyed.key);
    return cached === undefined ? this.#read(exchange, type, keyed) : bytesAnswer(cached);
  }

  /**
   * Returns the cache key of a request; undefined if the response is not cached. Requests for a past position, or with
   * a `resourceVersion` other than 0, are not cached.
   */
  #keyOf({ query, rawQuery }: Exchange, type: ResourceType, form: Representation | undefined): string | undefined {
    const waits = /[^0]/u.test(query.get('resourceVersion') ?? '') || query.has('at');
    if (this.#cache === undefined || rawQuery.length > listCacheQueryLengthMax || waits) return undefined;
    return `${form === undefined ? '' : `${form.name} `}${type.path}?${rawQuery}`;
  }

  #cached({ clock }: Exchange, type: ResourceType, key: string | undefined): Buffer | undefined {
    if (key === undefined) return undefined;
    return this.#cache?.find(key, {
      type,
      position: this.#ports.reader.position(),
      now: clock.now(),
    });
  }

  async #read(exchange: Exchange, type: ResourceType, keyed: Keyed): Promise<Answer> {
    const decoded = decodeListQuery(exchange.query, type, { hasPast: this.#past !== undefined });
    if (!decoded.ok) return refusal(decoded.problem);
    const request = decoded.value;
    if (this.#past !== undefined && exchange.query.has('at'))
      return this.#listAt(exchange, type, { asked: { ...keyed, request }, past: this.#past });
    const begun = firstPagePosition(request);
    const { reader } = this.#ports;
    const stale =
      (begun === undefined ? undefined : await staleness({ notBefore: begun, match: 'not-older' }, exchange, reader)) ??
      (await staleness(request.freshness, exchange, reader));
    if (stale !== undefined) return stale;
    const turn = reader.snapshots.turn(readerOf(exchange));
    if (turn !== undefined) {
      await turn;
      if (exchange.res.closed) return takenOver;
    }
    // The first of many equal concurrent requests fills the cache for the others.
    const cached = this.#cached(exchange, type, keyed.key);
    if (cached !== undefined) return bytesAnswer(cached);
    return this.#list(exchange, type, { ...keyed, request });
  }

  async #listAt(exchange: Exchange, type: ResourceType, { asked, past }: AskedPast): Promise<Answer> {
    const { reader } = this.#ports;
    const moment = await momentOf(exchange, asked.request.paging, { reader, audit: past });
    if (!moment.ok) return moment.answer;
    const { position } = moment;
    const signal = disconnectSignalOf(exchange.res);
    const slot = await reader.snapshots.take(readerOf(exchange), signal);
    if (slot === undefined) return signal.aborted ? takenOver : refusal(tooManyReading);
    try {
      const options = { position, account: accountOf(readerOf(exchange)), signal };
      const page = await past.lists.listAt(type, asked.request.query, options);
      if (page !== undefined) {
        const timeMs = timeAsked(exchange) ?? past.times.timeAt(position);
        return this.#stream({ exchange, ...asked, timeMs, slot }, page);
      }
      slot.release();
      return refusal(
        problem('unavailable', `the past values of ${type.plural} are being read from the log; retry`, {
          retryAfterSeconds: 5,
        }),
      );
    } catch (error) {
      slot.release();
      if (signal.aborted) return takenOver;
      if (!(error instanceof UnreadableLogError)) throw error;
      return refusal(problem('unavailable', error.message, { retryAfterSeconds: 1 }));
    }
  }

  #list(exchange: Exchange, type: ResourceType, asked: Asked): Answer | Promise<Answer> {
    const { request } = asked;
    const listed = this.#ports.reader.list(type.key, request.query);
    if (!('rest' in listed) && listed.items instanceof Uint8Array)
      return bytesAnswer(this.#joined(exchange, asked, { ...listed, items: listed.items }));
    const slot = this.#ports.reader.snapshots.tryTake(readerOf(exchange));
    if (slot !== undefined) return this.#placed({ exchange, ...asked, slot }, () => listed);
    if ('leave' in listed) listed.leave();
    return this.#inTurn(exchange, type, asked);
  }

  /** Lists objects after a wait for a slot. */
  async #inTurn(exchange: Exchange, type: ResourceType, asked: Asked): Promise<Answer> {
    const { reader } = this.#ports;
    const slot = await reader.snapshots.take(readerOf(exchange), disconnectSignalOf(exchange.res));
    if (slot === undefined) return refusal(tooManyReading);
    const turn = reader.snapshots.turn(readerOf(exchange));
    if (turn !== undefined) await turn;
    return this.#placed({ exchange, ...asked, slot }, () => reader.list(type.key, asked.request.query));
  }

  async #placed(holder: SlotHolder, list: () => ListPage | LongList): Promise<Answer> {
    const { exchange, slot } = holder;
    const disconnected = disconnectSignalOf(exchange.res);
    try {
      const listed = list();
      return this.#stream(holder, 'rest' in listed ? await listed.rest(disconnected) : listed);
    } catch (error) {
      slot.release();
      if (disconnected.aborted) return takenOver;
      if (error instanceof SnapshotsExhaustedError) return refusal(tooManyReading);
      throw error;
    }
  }

  /** Creates the response. The slot is released at once if the list needs no snapshot. */
  #stream(holder: SlotHolder, { items, ...page }: ListPage): Answer {
    const { exchange, slot } = holder;
    if (!(items instanceof Uint8Array)) {
      return {
        kind: 'stream',
        chunks: this.#streamed(holder, { page, items: items() }),
        holdMsMax: snapshotHoldMsMax,
        slot,
      };
    }
    slot.release();
    return bytesAnswer(this.#joined(exchange, { ...holder, key: undefined }, { ...page, items }));
  }

  #joined({ clock }: Exchange, { request, key, form, timeMs }: Asked, page: JoinedPage): Uint8Array {
    const madeAt = timeMs ?? clock.now();
    const { bytes, until } = form?.items(page.items, madeAt) ?? { bytes: page.items, until: Infinity };
    if (this.#cache !== undefined && key !== undefined)
      return this.#cache.keep(
        key,
        request,
        { ...page, items: bytes },
        { form, madeAt, until: Math.max(until, madeAt + listCacheAgeMs) },
      );
    return Buffer.concat([
      Buffer.from(envelopeHead(request, page, page.position, form)),
      bytes,
      Buffer.from(envelopeTail),
    ]);
  }

  /** Yields the list. The slot is released when the stream ends or the reader stops. */
  async *#streamed(
    { exchange, request, form, timeMs, slot }: SlotHolder,
    { page, items }: Streamed,
  ): AsyncGenerator<Uint8Array> {
    try {
      let before = envelopeHead(request, page, page.position, form);
      for await (const slice of items) {
        if (slice.length === 0) continue;
        yield Buffer.concat([Buffer.from(before), form?.items(slice, timeMs ?? exchange.clock.now()).bytes ?? slice]);
        before = ',';
      }
      yield Buffer.from(before === ',' ? envelopeTail : `${before}${envelopeTail}`);
    } catch (error) {
      // A list at a past position throws if its client disconnects. This error is ignored.
      if (!exchange.res.closed) throw error;
    } finally {
      slot.release();
    }
  }

  /** Creates an object. `path` is the path of the collection, for `Location`. */
  async create(exchange: Exchange, type: ResourceType, path = type.path): Promise<Answer> {
    const object = await readObject(exchange);
    if (!object.ok) return object.answer;
    const context = writeContext(exchange);
    if (!context.ok) return refusal(context.problem);
    const outcome = await this.#ports.execute(type, { type: 'create', object: object.value }, context.value);
    if (!outcome.ok) return written(outcome, { type, ...nameIn(object.value['metadata']) });
    return bytesAnswer(outcome.bytes, 201, ['Location', `${path}/${outcome.name}`, ...writtenHeaders(outcome, type)]);
  }
}

/**
 * Returns the past position at which a list is read. All pages of a chain use the position of the first page, even if
 * `at` is a time.
 */
async function momentOf(exchange: Exchange, paging: ListRequest['paging'], ports: MomentPorts): Promise<Resolved> {
  const begun = paging.kind === 'chain' ? paging.token?.position : undefined;
  return begun === undefined ? resolveMoment(exchange, ports) : resolvePosition(begun, exchange, ports);
}

/**
 * Returns the position of a chain's first page; undefined without a token. Later pages report this position, so their
 * data must not be older.
 */
function firstPagePosition({ paging }: ListRequest): LogPosition | undefined {
  return paging.kind === 'chain' ? paging.token?.position : undefined;
}

export const tooManyReading = problem('too-many-requests', 'too many long reads, such as lists, are in progress', {
  retryAfterSeconds: 1,
});

export function readerOf({ subject, sender }: Exchange): Client {
  return clientOf(subject, sender.address);
}

function nameIn(metadata: unknown): { readonly name?: string } {
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return {};
  return typeof metadata.name === 'string' ? { name: metadata.name } : {};
}
