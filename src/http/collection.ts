import { listCacheQueryLengthMax, snapshotHoldMsMax, snapshotsMax } from '../limits.ts';
import type { ChangeFeed, ListPage } from '../read/objects.ts';
import type { ResourceType } from '../resource/resource-type.ts';
import { bytesAnswer, refusal, type Answer } from './answer.ts';
import { decodeListQuery, type ListRequest } from './decode-list-query.ts';
import { decodeObject, writeContext } from './decode-write.ts';
import type { Exchange } from './exchange.ts';
import { staleness, unread, written, writtenHeaders, type ResourcePorts } from './item.ts';
import { ListCache } from './list-cache.ts';
import { envelopeHead, envelopeTail } from './list-envelope.ts';
import { mediaTypeOf, readJson } from './read-body.ts';
import { Slots } from './slots.ts';

/** The generated API of one collection, but for deletion (delete-collection.ts). */
export class Collections {
  readonly #ports: ResourcePorts;
  readonly #cache: ListCache;
  /** One for each streamed list: it pins a snapshot of the read model. */
  readonly #snapshots = new Slots(snapshotsMax);

  constructor(ports: ResourcePorts, feed: ChangeFeed) {
    this.#ports = ports;
    this.#cache = new ListCache(feed);
  }

  list(exchange: Exchange, type: ResourceType): Answer | Promise<Answer> {
    const key = exchange.rawQuery.length <= listCacheQueryLengthMax ? `${type.path}?${exchange.rawQuery}` : undefined;
    // What asks for a position waits for it first, and whether it must is not in the cache.
    const cached = key === undefined || exchange.query.has('resourceVersion') ? undefined : this.#cache.find(key, type, this.#ports.reader.position());
    return cached === undefined ? this.#read(exchange, type, key) : bytesAnswer(cached);
  }

  async #read(exchange: Exchange, type: ResourceType, key: string | undefined): Promise<Answer> {
    const decoded = decodeListQuery(exchange.query, type);
    if (!decoded.ok) return refusal(decoded.problem);
    const request = decoded.value;
    const stale = await staleness(request.freshness, exchange, this.#ports.reader);
    if (stale !== undefined) return stale;
    await this.#snapshots.take();
    let streamed = false;
    try {
      const { items, ...page } = this.#ports.reader.list(type.key, request.query);
      if (items instanceof Uint8Array) return bytesAnswer(this.#joined(request, { ...page, items }, key));
      streamed = true;
      return { kind: 'stream', chunks: this.#streamed(request, page, items), holdMsMax: snapshotHoldMsMax };
    } finally {
      if (!streamed) this.#snapshots.giveBack();
    }
  }

  #joined(request: ListRequest, page: Omit<ListPage, 'items'> & { readonly items: Uint8Array }, key: string | undefined): Uint8Array {
    if (key !== undefined && request.freshness.notBefore === undefined) return this.#cache.keep(key, request, page);
    return Buffer.concat([Buffer.from(envelopeHead(request, page, page.position)), page.items, Buffer.from(envelopeTail)]);
  }

  /** Reading begins with the first chunk that is asked for; from then on its end, or its abandonment, gives the slot back. */
  async *#streamed(request: ListRequest, page: Omit<ListPage, 'items'>, items: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      let before = envelopeHead(request, page, page.position);
      for await (const slice of items) {
        if (slice.length === 0) continue;
        yield Buffer.concat([Buffer.from(before), slice]);
        before = ',';
      }
      yield Buffer.from(before === ',' ? envelopeTail : `${before}${envelopeTail}`);
    } finally {
      this.#snapshots.giveBack();
    }
  }

  async create(exchange: Exchange, type: ResourceType): Promise<Answer> {
    const media = mediaTypeOf(exchange.req, ['application/json']);
    if (!media.ok) return refusal(media.problem);
    const body = await readJson(exchange.req);
    if (!body.ok) return unread(body);
    const object = decodeObject(body.value);
    if (!object.ok) return refusal(object.problem);
    const context = writeContext(exchange);
    if (!context.ok) return refusal(context.problem);
    const outcome = await this.#ports.execute(type, { type: 'create', object: object.value }, context.value);
    if (!outcome.ok) return written(outcome, { type, ...nameIn(object.value['metadata']) });
    return bytesAnswer(outcome.bytes, 201, ['Location', `${type.path}/${outcome.name}`, ...writtenHeaders(outcome)]);
  }
}

/** The name a refused body gave, for the refusal to tell. */
function nameIn(metadata: unknown): { readonly name?: string } {
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return {};
  return typeof metadata.name === 'string' ? { name: metadata.name } : {};
}
