import { test } from 'tap';

import { encodeEntry } from '../../projections/index/entry-codec.ts';
import { TypeIndex } from '../../projections/index/type-index.ts';
import { checkIndex } from '../../projections/replay/check-index.ts';
import { encodeRow } from '../../projections/row.ts';
import { atOnce } from '../../src/base/steps.ts';
import { logPosition, streamRevision } from '../../src/log/log.ts';
import type { Difference } from '../../src/read/replay.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { entryOf } from '../../src/resource/type/index-definition.ts';
import type { IndexEntry } from '../../src/resource/type/index-entry.ts';
import { widgetType } from '../support/given.ts';

const type = widgetType({
  indexes: [
    { name: 'spec.title' },
    { name: 'spec.size', type: 'number' },
    { name: 'spec.tags', multi: true, indexFunc: (object: ResourceObject) => tagsOf(object) },
  ],
});

function tagsOf({ spec }: ResourceObject): unknown {
  return (spec as { readonly tags?: unknown } | undefined)?.tags;
}

function object(number: number): ResourceObject {
  const name = `w${String(number).padStart(4, '0')}`;
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name,
      uid: name,
      creationTimestamp: new Date(number % 7).toISOString(),
      generation: 1,
      version: 0,
      resourceVersion: '1',
      ...(number % 2 === 0 ? { labels: { part: String(number % 3), half: 'yes' } } : {}),
    },
    spec: {
      title: `title ${String(number % 5)}`,
      ...(number % 3 === 0 ? {} : { size: number % 11 }),
      ...(number % 4 === 0 ? {} : { tags: ['a', `b${String(number % 3)}`] }),
    },
  } as unknown as ResourceObject;
}

const objects = Array.from({ length: 1_200 }, (_, number) => object(number));

function rowOf(one: ResourceObject | undefined, entry: Uint8Array): Buffer {
  return encodeRow({
    revision: streamRevision(0),
    position: logPosition(1n),
    deletionRequested: false,
    finalizers: false,
    declared: undefined,
    entry,
    source: Buffer.alloc(0),
    answer: Buffer.from(JSON.stringify(one)),
  });
}

type Changes = {
  /** What the index holds of an object in place of its entry; undefined: nothing. */
  readonly held?: (entry: IndexEntry) => IndexEntry | undefined;
  /** The entry beside the row. */
  readonly kept?: (entry: IndexEntry) => IndexEntry;
  readonly after?: (index: TypeIndex) => void;
  readonly rowless?: string;
};

function check({ held = (entry) => entry, kept = (entry) => entry, after, rowless }: Changes = {}):
  Difference | undefined {
  const index = new TypeIndex(type.indexes);
  const rows = new Map<string, Buffer>();
  for (const one of objects) {
    const entry = entryOf(type.indexes, one);
    const inIndex = held(entry);
    if (inIndex !== undefined) index.put(inIndex);
    rows.set(entry.name, rowOf(one, encodeEntry(kept(entry), type.fingerprint)));
  }
  if (rowless !== undefined) rows.delete(rowless);
  after?.(index);
  const { orders, release } = index.hold();
  const found = atOnce(checkIndex({ type, orders, row: (name) => rows.get(name) }));
  release();
  return found;
}

const name = 'w0301';
const of = (change: (entry: IndexEntry) => IndexEntry) => (entry: IndexEntry) =>
  entry.name === name ? change(entry) : entry;
const withKeys =
  (place: number, keys: IndexEntry['keys'][number]) =>
  (entry: IndexEntry): IndexEntry => ({
    ...entry,
    keys: entry.keys.map((before, at) => (at === place ? keys : before)),
  });

test('an index that holds what its objects say has no difference, while writes go on', async (t) => {
  t.equal(check(), undefined);
  const index = new TypeIndex(type.indexes);
  const entries = objects.map((one) => entryOf(type.indexes, one));
  for (const entry of entries) index.put(entry);
  const rows = new Map(objects.map((one) => [one.metadata.name, one]));
  const { orders, release } = index.hold();
  const steps = checkIndex({
    type,
    orders,
    row: (wanted) => rowOf(rows.get(wanted), new Uint8Array(0)),
  });
  for (let number = 0; ; number += 1) {
    const step = steps.next();
    if (step.done === true) {
      t.equal(step.value, undefined);
      break;
    }
    const entry = entries[(number * 7) % entries.length];
    if (number % 10 === 0 && entry !== undefined) index.put(withKeys(3, [`other ${String(number)}`])(entry));
    if (number % 50 === 0 && entry !== undefined) index.remove(entry);
  }
  release();
});

const wrong: readonly (readonly [what: string, changes: Changes, found: object])[] = [
  ['another value', { held: of(withKeys(3, ['another title'])) }, { table: /^index spec\.title of/u, key: name }],
  ['another number', { held: of(withKeys(4, [99])) }, { table: /^index spec\.size of/u, key: name }],
  ['one of several values', { held: of(withKeys(5, ['a'])) }, { table: /^index spec\.tags of/u, key: name }],
  ['other labels', { held: of((entry) => ({ ...entry, labels: { part: 'x' } })) }, { key: name, detail: /labels/u }],
  ['another time', { held: of((entry) => ({ ...entry, created: 99 })) }, { key: name, detail: /creation time/u }],
  ['an entry beside the row', { kept: of(withKeys(3, ['x'])) }, { key: name, detail: /entry stored in the row/u }],
  ['an object without a row', { rowless: name }, { key: name, detail: /has no row/u }],
  [
    'a posting that is missing',
    {
      after: (index) => {
        const { orders, release } = index.hold();
        for (const { chunk } of orders.byIndex[4]?.spans(0, 1) ?? []) chunk.ordinals.copyWithin(0, 1, 2);
        release();
      },
    },
    { table: /^index spec\.size of/u, detail: /out of order/u },
  ],
  [
    'two postings in the wrong order',
    {
      after: (index) => {
        const { orders, release } = index.hold();
        for (const { chunk } of orders.byDefault.spans(0, 1)) chunk.ordinals.subarray(0, 2).reverse();
        release();
      },
    },
    { table: /^the default order of/u, detail: /out of order/u },
  ],
];

test('whatever is wrong in an index is named', async (t) => {
  for (const [what, changes, found] of wrong) t.match(check(changes), found, what);
});
