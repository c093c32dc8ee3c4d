import { listCacheBytesMax } from '../../limits/lists.ts';
import { logStart, type LogPosition } from '../../log/log.ts';
import type { ChangeFeed, ListPage } from '../../read/objects.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { Representation } from '../representation/representation.ts';
import { envelopeHead, envelopeTail } from './list-envelope.ts';
import type { ListRequest } from './decode-list-query.ts';

type Joined = Omit<ListPage, 'items'> & { readonly items: Uint8Array };

/** The form of a cached response. The items are correct from `madeAt` until `until`, both in epoch milliseconds. */
export type CachedForm = {
  readonly form: Representation | undefined;
  readonly madeAt: number;
  readonly until: number;
};

type Entry = CachedForm & {
  readonly request: ListRequest;
  readonly page: Omit<ListPage, 'items'>;
  /** The last response, and the offset of its items. */
  bytes: Buffer;
  itemsAt: number;
  /** The position in the last response. */
  position: LogPosition;
};

const asObjects: CachedForm = { form: undefined, madeAt: -Infinity, until: Infinity };

type Wanted = {
  readonly type: ListRequest['identity']['type'];
  readonly position: LogPosition;
  readonly now: number;
};

/**
 * Caches recent list responses. A response is valid until an object of its type changes, and at most until
 * `CachedForm.until`. Only the head of the response changes with the position of the log.
 */
export class ListCache {
  /** The entries by key, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** The total size of the entries in bytes. */
  #bytes = 0;
  /** The position of the last change by type. Changes before the creation of the cache are not recorded. */
  readonly #changed = new Map<TypeKey, LogPosition>();

  constructor(feed: ChangeFeed) {
    feed.subscribe(({ changes }) => {
      for (const change of changes) this.#changed.set(change.type, change.position);
    });
  }

  /**
   * Returns the cached response for `key`, with the given position; undefined without a valid response. The key
   * identifies a query of one type, and the form. `now` is in epoch milliseconds.
   */
  find(key: string, { type, position, now }: Wanted): Buffer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const stale =
      entry.request.identity.type !== type ||
      (this.#changed.get(type.key) ?? logStart) > entry.page.position ||
      // If the clock was set back, `now` may precede `madeAt`.
      now >= entry.until ||
      now < entry.madeAt;
    if (stale) {
      this.#remove(key, entry);
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (entry.position !== position) {
      this.#bytes -= entry.bytes.length;
      Object.assign(entry, rendered(entry, entry.bytes.subarray(entry.itemsAt, -envelopeTail.length), position));
      this.#bytes += entry.bytes.length;
    }
    return entry.bytes;
  }

  /** Returns the response with a new page, and caches the response unless it is too large. */
  keep(key: string, request: ListRequest, page: Joined, form: CachedForm = asObjects): Buffer {
    const { items, ...facts } = page;
    const made = { request, page: facts, ...form };
    const entry: Entry = { ...made, ...rendered(made, items, page.position) };
    // A single response must not evict all others.
    if (sizeOf(key, entry) > listCacheBytesMax / 4) return entry.bytes;
    const present = this.#entries.get(key);
    if (present !== undefined) this.#remove(key, present);
    this.#entries.set(key, entry);
    this.#bytes += sizeOf(key, entry);
    for (const [oldest, old] of this.#entries) {
      if (this.#bytes <= listCacheBytesMax) break;
      this.#remove(oldest, old);
    }
    return entry.bytes;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, entry);
  }
}

function sizeOf(key: string, { bytes }: Entry): number {
  return 2 * key.length + bytes.length;
}

function rendered(
  { request, page, form }: Pick<Entry, 'request' | 'page' | 'form'>,
  items: Uint8Array,
  position: LogPosition,
): Pick<Entry, 'bytes' | 'itemsAt' | 'position'> {
  const head = Buffer.from(envelopeHead(request, page, position, form));
  return {
    bytes: Buffer.concat([head, items, Buffer.from(envelopeTail)]),
    itemsAt: head.length,
    position,
  };
}
