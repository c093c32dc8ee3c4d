/** Pages of a history, over random lives of a name and over events of any size. */
import fc from 'fast-check';
import { test } from 'tap';

import { UnreadableHistoryError } from '../../src/audit/event-pairs.ts';
import { readHistory, type HistoryPage, type HistoryRequest } from '../../src/audit/object-history.ts';
import type { ObjectEvent } from '../../src/command/event.ts';
import { historyPageBytesMax, historyReadBytesMax, historyReadEventsMax } from '../../src/limits/audit.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { LogCorruptError, streamName, streamRevision, type EventLog } from '../../src/log/log.ts';
import type { JsonValue, ResourceObject } from '../../src/resource/object/object.ts';
import { applyJsonPatch } from '../../src/resource/object/patch.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';

const stream = streamName('object:widgets.example.com/lamp');
const unhurried = { isOver: () => false, next: () => Promise.resolve() };

type Entry = { readonly event: string; readonly version: number; readonly uid: string; readonly change: JsonValue[] };

class Name {
  readonly log = new MemoryLog();
  #version = -1;
  readonly states: (ResourceObject | undefined)[] = [];

  async append(type: ObjectEvent['type'], uid: string | undefined, spec: JsonValue = {}): Promise<void> {
    const version = this.#version + 1;
    const metadata = { name: 'lamp', uid: uid ?? '', version, generation: 1, creationTimestamp: '' };
    const object = uid === undefined ? undefined : { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec };
    const event = { type, values: [], ...(object === undefined ? {} : { object }) } as unknown as ObjectEvent;
    const cause = { actor: 'test', verb: 'update', requestId: 'r', $correlationId: 'r' };
    const time = '2026-01-01T00:00:00.000Z';
    const proposed = encodeEvent(idOf(`event ${String(version)}`), event, { ...cause, time, schema: 1 });
    const bytes = { ...proposed, data: Buffer.from(proposed.data) };
    const expected = version === 0 ? 'absent' : streamRevision(version - 1);
    const outcome = await this.log.append(stream, [bytes], expected);
    if (!outcome.ok) throw new Error(outcome.reason);
    this.#version = version;
    this.states.push(object);
  }

  async page(asked: Partial<HistoryRequest> = {}, log: EventLog = this.log): Promise<HistoryPage> {
    const through = streamRevision(this.#version);
    const next = asked.order === 'newest' ? through : streamRevision(0);
    const request = { stream, order: 'oldest' as const, uid: undefined, withObjects: false, limit: 50, next, through };
    return readHistory(log, { ...request, ...asked }, unhurried);
  }

  /** Every entry, page by page. */
  async all(asked: Partial<HistoryRequest> = {}): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    let next: HistoryPage['next'];
    do {
      const page = await this.page({ ...asked, ...(next === undefined ? {} : { next }) });
      entries.push(...page.entries.map((entry) => JSON.parse(entry.toString()) as Entry));
      next = page.next;
    } while (next !== undefined);
    return entries;
  }
}

/** Lives of a name: updates, fences, deletions, and fences of the name without an object. */
const lives = fc.array(
  fc.record({
    fenced: fc.boolean(),
    changes: fc.array(
      fc.tuple(fc.constantFrom('ObjectUpdated', 'NameFenced' as const), fc.jsonValue({ maxDepth: 2 })),
      {
        maxLength: 6,
      },
    ),
    isDeleted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

test('over random lives of a name, patches give each state, in both orders, on pages of any length', async (t) => {
  await fc.assert(
    fc.asyncProperty(lives, fc.integer({ min: 1, max: 7 }), async (drawn, limit) => {
      const name = new Name();
      for (const [index, { fenced, changes, isDeleted }] of drawn.entries()) {
        const uid = `uid ${String(index)}`;
        if (fenced) await name.append('NameFenced', undefined);
        await name.append('ObjectCreated', uid);
        let spec: JsonValue = {};
        for (const [type, value] of changes) {
          if (type === 'ObjectUpdated') spec = JSON.parse(JSON.stringify(value)) as JsonValue;
          await name.append(type, uid, spec);
        }
        if (isDeleted || index < drawn.length - 1) await name.append('ObjectDeleted', uid, spec);
      }
      const entries = await name.all({ limit });
      const held = name.states.filter((state) => state !== undefined);
      t.equal(entries.length, held.length);
      let state: JsonValue = null;
      for (const [index, { change, version, uid }] of entries.entries()) {
        const patched = applyJsonPatch(state, change);
        if (!patched.ok) throw new Error(patched.detail);
        state = patched.document;
        t.same(state, held[index]);
        t.same([version, uid], [held[index]?.metadata.version, held[index]?.metadata.uid]);
      }
      t.same((await name.all({ limit, order: 'newest' })).toReversed(), entries);
      for (const order of ['oldest', 'newest'] as const)
        for (const uid of new Set(entries.map((entry) => entry.uid))) {
          const own = entries.filter((entry) => entry.uid === uid);
          t.same(await name.all({ limit, order, uid }), order === 'oldest' ? own : own.toReversed());
        }
      t.same(await name.all({ limit, uid: 'nobody' }), []);
    }),
    { numRuns: 60 },
  );
});

test('a page ends with the entry that reaches its bytes, and after what may be read for it', async (t) => {
  const large = new Name();
  await large.append('ObjectCreated', 'one');
  const text = 'x'.repeat(700_000);
  for (let version = 1; version < 16; version += 1)
    await large.append('ObjectUpdated', 'one', { text: text + String(version) });
  for (const order of ['oldest', 'newest'] as const) {
    const page = await large.page({ order, withObjects: true });
    const bytes = page.entries.map((entry) => entry.length);
    const total = bytes.reduce((sum, one) => sum + one, 0);
    t.ok(
      total >= historyPageBytesMax && total - (bytes.at(-1) ?? 0) < historyPageBytesMax,
      `${order}: ${String(total)}`,
    );
    t.ok(page.next !== undefined);
    const none = await large.page({ order, uid: 'nobody' });
    t.equal(none.entries.length, 0);
    const read = Math.abs((none.next ?? 0) - (order === 'oldest' ? 0 : 15));
    t.ok(read * 700_000 >= historyReadBytesMax - 700_000 && (read - 2) * 700_000 < historyReadBytesMax, String(read));
    t.equal((await large.all({ order })).length, 16);
  }
});

test('a page reads no more events of other objects than its bound, and goes on behind them', async (t) => {
  const name = new Name();
  await name.append('ObjectCreated', 'first');
  for (let version = 1; version <= historyReadEventsMax; version += 1) await name.append('ObjectUpdated', 'first');
  await name.append('ObjectDeleted', 'first');
  await name.append('ObjectCreated', 'second');
  const page = await name.page({ uid: 'second' });
  t.same([page.entries.length, page.next], [0, historyReadEventsMax]);
  t.same(
    (await name.all({ uid: 'second' })).map(({ uid }) => uid),
    ['second'],
  );
  const newest = await name.page({ uid: 'second', order: 'newest' });
  t.same([newest.entries.length, newest.next], [1, undefined], 'it ends before the earlier object');
});

test('a log that cannot be read, or is behind, is no empty history; one that is damaged is no outage', async (t) => {
  const name = new Name();
  await name.append('ObjectCreated', 'one');
  const fails = (error: Error): EventLog =>
    altered(name.log, {
      readStream: () => Promise.reject(error),
      readStreamBackward: () => Promise.reject(error),
    });
  const behind = altered(name.log, {
    readStream: () => Promise.resolve([]),
    readStreamBackward: () => Promise.resolve([]),
  });
  for (const order of ['oldest', 'newest'] as const) {
    await t.rejects(name.page({ order }, behind), UnreadableHistoryError);
    await t.rejects(name.page({ order }, fails(new Error('away'))), UnreadableHistoryError);
    await t.rejects(name.page({ order }, fails(new LogCorruptError('a hole'))), LogCorruptError);
  }
});
