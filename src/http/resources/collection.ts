import { listCacheQueryLengthMax, snapshotHoldMsMax } from '../../limits/lists.ts';
import { networkOf } from '../../base/network-of.ts';
import type { LogPosition } from '../../log/log.ts';
import { clientOf, type Client } from '../../read/client.ts';
import { SnapshotsExhaustedError, type ListPage, type LongList } from '../../read/objects.ts';
import type { SnapshotSlot } from '../../read/snapshot-slots.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { bytesAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import { decodeListQuery, type ListRequest } from './decode-list-query.ts';
import { writeContext } from './decode-write.ts';
import { goneSignal, type Exchange } from '../exchange.ts';
import { staleness, written, writtenHeaders, type ResourcePorts } from './item.ts';
import type { ListCache } from './list-cache.ts';
import { envelopeHead, envelopeTail } from './list-envelope.ts';
import { problem } from '../problem.ts';
import { readObject } from '../body/read-object.ts';

type Keyed = { readonly request: ListRequest; readonly key: string | undefined };
type SlotHolder = { readonly exchange: Exchange; readonly request: ListRequest; readonly place: SnapshotSlot };
type Streamed = {
  readonly page: Omit<ListPage, 'items'>;
  readonly items: AsyncIterable<Uint8Array>;
  readonly place: SnapshotSlot;
};

/** The generated API of a collection, except for deletion (delete-collection.ts). */
export class Collections {
  readonly #ports: ResourcePorts;
  readonly #cache: ListCache | undefined;

  /** Pass no cache if callers see different objects: its key is the query alone. */
  constructor(ports: ResourcePorts, cache?: ListCache) {
    this.#ports = ports;
    this.#cache = cache;
  }

  list(exchange: Exchange, type: ResourceType): Answer | Promise<Answer> {
    const key = exchange.rawQuery.length <= listCacheQueryLengthMax ? `${type.path}?${exchange.rawQuery}` : undefined;
    // A request with a position waits for it first, so it does not use the cache.
    const cached =
      key === undefined || exchange.query.has('resourceVersion')
        ? undefined
        : this.#cache?.find(key, type, this.#ports.reader.position());
    return cached === undefined ? this.#read(exchange, type, key) : bytesAnswer(cached);
  }

  async #read(exchange: Exchange, type: ResourceType, key: string | undefined): Promise<Answer> {
    const decoded = decodeListQuery(exchange.query, type);
    if (!decoded.ok) return refusal(decoded.problem);
    const request = decoded.value;
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
    // Of many equal concurrent requests, the first one reads and the others share its result.
    const cached =
      key === undefined || request.freshness.notBefore !== undefined
        ? undefined
        : this.#cache?.find(key, type, this.#ports.reader.position());
    if (cached !== undefined) return bytesAnswer(cached);
    return this.#list(exchange, type, { request, key });
  }

  #list(exchange: Exchange, type: ResourceType, { request, key }: Keyed): Answer | Promise<Answer> {
    const listed = this.#ports.reader.list(type.key, request.query);
    if (!('rest' in listed) && listed.items instanceof Uint8Array)
      return bytesAnswer(this.#joined(request, { ...listed, items: listed.items }, key));
    const place = this.#ports.reader.snapshots.tryTake(readerOf(exchange));
    if (place !== undefined) return this.#placed({ exchange, request, place }, () => listed);
    if ('leave' in listed) listed.leave();
    return this.#inTurn(exchange, type, request);
  }

  /** The state may have changed while it waited for a slot. */
  async #inTurn(exchange: Exchange, type: ResourceType, request: ListRequest): Promise<Answer> {
    const { reader } = this.#ports;
    const place = await reader.snapshots.take(readerOf(exchange), goneSignal(exchange.res));
    if (place === undefined) return refusal(tooManyReading);
    const turn = reader.snapshots.turn(readerOf(exchange));
    if (turn !== undefined) await turn;
    return this.#placed({ exchange, request, place }, () => reader.list(type.key, request.query));
  }

  async #placed({ exchange, request, place }: SlotHolder, list: () => ListPage | LongList): Promise<Answer> {
    const gone = goneSignal(exchange.res);
    try {
      const listed = list();
      return this.#stream(request, 'rest' in listed ? await listed.rest(gone) : listed, place);
    } catch (error) {
      place.release();
      if (gone.aborted) return takenOver;
      if (error instanceof SnapshotsExhaustedError) return refusal(tooManyReading);
      throw error;
    }
  }

  /** Releases the slot at once if no snapshot is needed. */
  #stream(request: ListRequest, { items, ...page }: ListPage, place: SnapshotSlot): Answer {
    if (!(items instanceof Uint8Array)) {
      return {
        kind: 'stream',
        chunks: this.#streamed(request, { page, items: items(), place }),
        holdMsMax: snapshotHoldMsMax,
        place,
      };
    }
    place.release();
    return bytesAnswer(this.#joined(request, { ...page, items }, undefined));
  }

  #joined(
    request: ListRequest,
    page: Omit<ListPage, 'items'> & { readonly items: Uint8Array },
    key: string | undefined,
  ): Uint8Array {
    if (this.#cache !== undefined && key !== undefined && request.freshness.notBefore === undefined)
      return this.#cache.keep(key, request, page);
    return Buffer.concat([
      Buffer.from(envelopeHead(request, page, page.position)),
      page.items,
      Buffer.from(envelopeTail),
    ]);
  }

  /** Reading starts with the first chunk; its end or abandonment releases the slot. */
  async *#streamed(request: ListRequest, { page, items, place }: Streamed): AsyncGenerator<Uint8Array> {
    try {
      let before = envelopeHead(request, page, page.position);
      for await (const slice of items) {
        if (slice.length === 0) continue;
        yield Buffer.concat([Buffer.from(before), slice]);
        before = ',';
      }
      yield Buffer.from(before === ',' ? envelopeTail : `${before}${envelopeTail}`);
    } finally {
      place.release();
    }
  }

  /** `path`: the collection's path, for `Location`. */
  async create(exchange: Exchange, type: ResourceType, path = type.path): Promise<Answer> {
    const object = await readObject(exchange);
    if (!object.ok) return object.answer;
    const context = writeContext(exchange);
    if (!context.ok) return refusal(context.problem);
    const outcome = await this.#ports.execute(type, { type: 'create', object: object.value }, context.value);
    if (!outcome.ok) return written(outcome, { type, ...nameIn(object.value['metadata']) });
    return bytesAnswer(outcome.bytes, 201, ['Location', `${path}/${outcome.name}`, ...writtenHeaders(outcome)]);
  }
}

/** All pages of a chain report the first page's position, so no page may be older. */
function firstPagePosition({ paging }: ListRequest): LogPosition | undefined {
  return paging.kind === 'chain' ? paging.token?.position : undefined;
}

const tooManyReading = problem('too-many-requests', 'too many long lists and watches are being read', {
  retryAfterSeconds: 1,
});

export function readerOf({ subject, sender }: Exchange): Client {
  return clientOf(subject, networkOf(sender.address));
}

/** The name in a refused body, for the refusal. */
function nameIn(metadata: unknown): { readonly name?: string } {
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return {};
  return typeof metadata.name === 'string' ? { name: metadata.name } : {};
}
