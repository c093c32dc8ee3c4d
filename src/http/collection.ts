import { listCacheQueryLengthMax, snapshotHoldMsMax } from '../limits/lists.ts';
import { SnapshotsExhaustedError, type ListPage } from '../read/objects.ts';
import type { ResourceType } from '../resource/resource-type.ts';
import { bytesAnswer, refusal, type Answer } from './answer.ts';
import { decodeListQuery, type ListRequest } from './decode-list-query.ts';
import { writeContext } from './decode-write.ts';
import type { Exchange } from './exchange.ts';
import { Holders } from './holders.ts';
import { foreignPosition, staleness, written, writtenHeaders, type ResourcePorts } from './item.ts';
import type { ListCache } from './list-cache.ts';
import { envelopeHead, envelopeTail } from './list-envelope.ts';
import { problem } from './problem.ts';
import { readObject } from './read-object.ts';

/** The generated API of one collection, but for deletion (delete-collection.ts). */
export class Collections {
  readonly #ports: ResourcePorts;
  readonly #cache: ListCache | undefined;
  /** The streamed lists: each pins a snapshot of the read model. */
  readonly #streams = new Holders();

  /** Without a cache where not everybody is shown the same: its answers are known by their query alone. */
  constructor(ports: ResourcePorts, cache?: ListCache) {
    this.#ports = ports;
    this.#cache = cache;
  }

  list(exchange: Exchange, type: ResourceType): Answer | Promise<Answer> {
    const key = exchange.rawQuery.length <= listCacheQueryLengthMax ? `${type.path}?${exchange.rawQuery}` : undefined;
    // What asks for a position waits for it first, and whether it must is not in the cache.
    const cached = key === undefined || exchange.query.has('resourceVersion') ? undefined : this.#cache?.find(key, type, this.#ports.reader.position());
    return cached === undefined ? this.#read(exchange, type, key) : bytesAnswer(cached);
  }

  async #read(exchange: Exchange, type: ResourceType, key: string | undefined): Promise<Answer> {
    const decoded = decodeListQuery(exchange.query, type);
    if (!decoded.ok) return refusal(decoded.problem);
    const request = decoded.value;
    const stale = await staleness(request.freshness, exchange, this.#ports.reader) ?? this.#foreignChain(request);
    if (stale !== undefined) return stale;
    // Many who ask the same at once share what the first of them has read meanwhile.
    const cached = key === undefined || request.freshness.notBefore !== undefined ? undefined : this.#cache?.find(key, type, this.#ports.reader.position());
    if (cached !== undefined) return bytesAnswer(cached);
    for (;;) {
      const listed = this.#listed(type, request);
      if (listed === undefined) {
        const ended = this.#streams.ended();
        if (ended === undefined) return refusal(problem('too-many-requests', 'too many lists and watches are being read', { retryAfterSeconds: 1 }));
        await ended;
        continue;
      }
      const { items, ...page } = listed;
      if (items instanceof Uint8Array) {
        this.#streams.wake();
        return bytesAnswer(this.#joined(request, { ...page, items }, key));
      }
      this.#streams.begin();
      return { kind: 'stream', chunks: this.#streamed(request, page, items), holdMsMax: snapshotHoldMsMax };
    }
  }

  #foreignChain({ paging }: ListRequest): Answer | undefined {
    const begun = paging.kind === 'chain' ? paging.token?.position : undefined;
    return begun === undefined || this.#ports.reader.isKnown(begun) ? undefined : refusal(foreignPosition(begun));
  }

  /** Undefined when it must be streamed and every snapshot is held. A short answer needs none, so it waits for nobody. */
  #listed(type: ResourceType, request: ListRequest): ListPage | undefined {
    try {
      return this.#ports.reader.list(type.key, request.query);
    } catch (error) {
      if (error instanceof SnapshotsExhaustedError) return undefined;
      throw error;
    }
  }

  #joined(request: ListRequest, page: Omit<ListPage, 'items'> & { readonly items: Uint8Array }, key: string | undefined): Uint8Array {
    if (this.#cache !== undefined && key !== undefined && request.freshness.notBefore === undefined) return this.#cache.keep(key, request, page);
    return Buffer.concat([Buffer.from(envelopeHead(request, page, page.position)), page.items, Buffer.from(envelopeTail)]);
  }

  /** Reading begins with the first chunk that is asked for; from then on its end, or its abandonment, is told to those who wait. */
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
      this.#streams.end();
    }
  }

  /** `path`: where the collection is, for `Location`. */
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

/** The name a refused body gave, for the refusal to tell. */
function nameIn(metadata: unknown): { readonly name?: string } {
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return {};
  return typeof metadata.name === 'string' ? { name: metadata.name } : {};
}
