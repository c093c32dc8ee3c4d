import { test } from 'tap';

import { ListCache } from '../../../src/http/resources/list-cache.ts';
import { decodeListQuery, type ListRequest } from '../../../src/http/resources/decode-list-query.ts';
import { listCacheBytesMax } from '../../../src/limits/lists.ts';
import { logPosition } from '../../../src/log/log.ts';
import type { ChangeBatch, ListPage } from '../../../src/read/objects.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import { widgetType } from '../../support/watched-type.ts';

const type = widgetType();
const at = (position: number) => logPosition(BigInt(position));

function given() {
  let publish: (batch: ChangeBatch) => void = () => undefined;
  const cache = new ListCache({
    subscribe: (listener) => {
      publish = listener;
      return () => undefined;
    },
  });
  return {
    cache,
    changed: (key: TypeKey, position: number): void => {
      publish({
        position: at(position),
        changes: [
          {
            type: key,
            name: 'x',
            kind: 'modified',
            cause: { id: '', correlationId: '' },
            position: at(position),
            revision: 0 as never,
            bytes: Buffer.alloc(0),
            previousBytes: undefined,
            before: undefined,
            after: undefined,
            deletionRequested: false,
            finalizers: false,
          },
        ],
      });
    },
  };
}

function request(query = ''): ListRequest {
  const decoded = decodeListQuery(new URLSearchParams(query), type, { hasPast: true });
  if (!decoded.ok) throw new Error(decoded.problem.detail);
  return decoded.value;
}

function page(position: number, items = '{"a":1}'): Omit<ListPage, 'items'> & { readonly items: Uint8Array } {
  return {
    position: at(position),
    total: 1,
    count: 1,
    next: { keys: [], created: 0, name: 'x' },
    remaining: 4,
    items: Buffer.from(items),
  };
}

function listChange(
  bytes: Buffer | undefined,
): { metadata: { resourceVersion: string; continue?: string }; items: unknown[] } | undefined {
  return bytes === undefined ? undefined : JSON.parse(bytes.toString());
}

test('an answer is reused until an object of its type changes', async (t) => {
  const { cache, changed } = given();
  cache.keep('k', request(), page(5));
  t.match(listChange(cache.find('k', { type, position: at(5), now: 0 })), {
    metadata: { resourceVersion: '5' },
    items: [{ a: 1 }],
  });
  t.equal(cache.find('other', { type, position: at(5), now: 0 }), undefined);
  changed(type.key, 6);
  t.equal(cache.find('k', { type, position: at(6), now: 0 }), undefined);
});

test("a change of another type advances the position in an answer and in a chain's token", async (t) => {
  const { cache, changed } = given();
  const first = listChange(cache.keep('k', request('limit=1'), page(5)));
  changed('gadgets.example.com' as TypeKey, 7);
  const second = listChange(cache.find('k', { type, position: at(7), now: 0 }));
  t.match(second, { metadata: { resourceVersion: '7', remainingItemCount: 4 }, items: [{ a: 1 }] });
  t.not(second?.metadata.continue, first?.metadata.continue);
  t.strictSame(listChange(cache.find('k', { type, position: at(7), now: 0 })), second);
});

test('an answer read after a change is valid although the change is younger than the cache', async (t) => {
  const { cache, changed } = given();
  changed(type.key, 6);
  cache.keep('k', request(), page(6));
  t.ok(cache.find('k', { type, position: at(6), now: 0 }));
});

test('a redeclared type has no cached answers', async (t) => {
  const { cache } = given();
  cache.keep('k', request(), page(5));
  t.equal(cache.find('k', { type: { ...type }, position: at(5), now: 0 }), undefined);
});

test('answers are cached up to the bound, the least recently used one is dropped first', async (t) => {
  const { cache } = given();
  const fifth = 'x'.repeat(listCacheBytesMax / 5);
  for (const key of ['a', 'b', 'c', 'd']) cache.keep(key, request(), page(5, fifth));
  cache.find('a', { type, position: at(5), now: 0 });
  cache.keep('e', request(), page(5, fifth));
  t.strictSame(
    ['a', 'b', 'c', 'd', 'e'].filter((key) => cache.find(key, { type, position: at(5), now: 0 }) !== undefined),
    ['a', 'c', 'd', 'e'],
  );
  cache.keep('huge', request(), page(5, 'x'.repeat(listCacheBytesMax / 4)));
  t.equal(cache.find('huge', { type, position: at(5), now: 0 }), undefined, 'one answer does not push out all others');
  t.ok(cache.find('a', { type, position: at(5), now: 0 }));
});
