import { listCacheBytesMax } from '../../limits/lists.ts';
import { logStart, type LogPosition } from '../../log/log.ts';
import type { ChangeFeed, ListPage } from '../../read/objects.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { envelopeHead, envelopeTail } from './list-envelope.ts';
import type { ListRequest } from './decode-list-query.ts';

type Joined = Omit<ListPage, 'items'> & { readonly items: Uint8Array };

type Entry = {
  readonly request: ListRequest;
  readonly page: Omit<ListPage, 'items'>;
  /** The answer as it was last given, where its items begin, and the position it tells. */
  bytes: Buffer;
  itemsAt: number;
  position: LogPosition;
};

/**
 * Recent list answers. An answer stays right until an object of its type changes; when only other types have, its head is
 * written anew with the new position and its items are kept.
 */
export class ListCache {
  /** By type and query as sent; the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** The sum of what the entries hold, at most `listCacheBytesMax`. */
  #bytes = 0;
  /** The position of the last change of each type since this cache began. */
  readonly #changed = new Map<TypeKey, LogPosition>();

  constructor(feed: ChangeFeed) {
    feed.subscribe(({ changes }) => {
      for (const change of changes) this.#changed.set(change.type, change.position);
    });
  }

  /** The answer for `key` as of `position`, when it is known. `key` stands for one query of one type. */
  find(key: string, type: ListRequest['identity']['type'], position: LogPosition): Buffer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const stale = entry.request.identity.type !== type || (this.#changed.get(type.key) ?? logStart) > entry.page.position;
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

  /** The answer for a page just read, kept for the next one who asks the same. */
  keep(key: string, request: ListRequest, page: Joined): Buffer {
    const { items, ...facts } = page;
    const entry: Entry = { request, page: facts, ...rendered({ request, page: facts }, items, page.position) };
    // One answer must not push all others out.
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

function rendered({ request, page }: Pick<Entry, 'request' | 'page'>, items: Uint8Array, position: LogPosition): Pick<Entry, 'bytes' | 'itemsAt' | 'position'> {
  const head = Buffer.from(envelopeHead(request, page, position));
  return { bytes: Buffer.concat([head, items, Buffer.from(envelopeTail)]), itemsAt: head.length, position };
}
