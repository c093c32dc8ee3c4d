/** Lists that take several turns to choose: objects are written between two of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { visitor } from '../../../src/command/subject.ts';
import { clientOf } from '../../../src/read/client.ts';
import type { ListPage, LongList } from '../../../src/read/objects.ts';
import type { ListQuery } from '../../../src/resource/query/list-query.ts';
import { snapshotsMax } from '../../../src/limits/lists.ts';
import { WatchHub } from '../../../src/watch/hub.ts';
import { RecordingSink } from '../../watch/recording-sink.ts';
import { create, merge, remove, widgetType } from '../../support/given.ts';
import { Writing } from '../../support/writing.ts';

const objects = 1_500;
const widget = widgetType({ indexes: [{ name: 'spec.title' }, { name: 'spec.serial' }] });
const everything = { labels: [], fields: [] };
const nameOf = (place: number): string => `w${String(place).padStart(4, '0')}`;

function place(name: string): number {
  return widget.indexes.findIndex((index) => index.name === name);
}

/** Two keys, the first of them equal in all. */
const sorted: ListQuery = {
  selection: everything,
  window: { kind: 'all' },
  sort: [
    { index: place('spec.title'), direction: 'desc' },
    { index: place('spec.serial'), direction: 'desc' },
  ],
};

type Item = { readonly metadata: { readonly name: string }; readonly spec: { readonly serial: string } };

async function given(t: Test): Promise<Writing> {
  const writing = await Writing.open(t, { type: widget });
  await writing.race(
    Array.from({ length: objects }, (_, number) =>
      create({ metadata: { name: nameOf(number) }, spec: { title: 'T', serial: nameOf(number) } }),
    ),
  );
  // Every slice of time is over as soon as it is asked.
  let now = 0;
  writing.clock.monotonic = () => (now += 100);
  return writing;
}

function longOf(listed: ListPage | LongList): LongList {
  if ('rest' in listed) return listed;
  throw new Error('it was chosen in one turn');
}

async function change(writing: Writing): Promise<void> {
  for (const command of [
    merge({ spec: { serial: 'a' } }, { name: nameOf(0) }),
    merge({ spec: { serial: 'z' } }, { name: nameOf(2) }),
    remove({}, nameOf(1)),
    create({ metadata: { name: 'new' }, spec: { title: 'T', serial: 'm' } }),
  ])
    await writing.write(command);
}

async function itemsOf({ items }: ListPage): Promise<readonly Item[]> {
  const slices: string[] = [];
  for await (const slice of items instanceof Uint8Array ? [items] : items())
    slices.push(Buffer.from(slice).toString('utf8'));
  return JSON.parse(`[${slices.join()}]`) as readonly Item[];
}

const before = Array.from({ length: objects }, (_, number) => nameOf(objects - 1 - number));

test('a list that takes several turns has order, objects and position of the turn it began in', async (t) => {
  const writing = await given(t);
  const { models } = writing;
  const position = models.position();
  const whole = longOf(models.list(widget.key, sorted));
  const window: ListQuery['window'] = { kind: 'page', page: 2, size: 20 };
  const short = longOf(models.list(widget.key, { ...sorted, window }));
  const [wholeRest, shortRest] = [whole.rest(), short.rest()];
  await change(writing);
  for (const [page, names] of [
    [await wholeRest, before],
    [await shortRest, before.slice(20, 40)],
  ] as const) {
    t.equal(page.position, position);
    t.equal(page.total, objects);
    const items = await itemsOf(page);
    t.strictSame(
      items.map(({ metadata }) => metadata.name),
      names,
    );
    t.strictSame(
      items.map(({ spec }) => spec.serial),
      names,
      'in the state they had',
    );
  }
  const now = await longOf(models.list(widget.key, sorted)).rest();
  t.equal(now.position, models.position());
  const items = await itemsOf(now);
  t.strictSame(
    [items[0]?.metadata.name, items.at(-2)?.metadata.name, items.at(-1)?.metadata.name],
    [nameOf(2), 'new', nameOf(0)],
  );
});

test("a watch's initial state and the objects of a collection's deletion are those of their first turn", async (t) => {
  const writing = await given(t);
  const { models } = writing;
  const position = models.position();
  const [state, names] = [models.objects(widget.key, sorted), models.names(widget.key, everything)];
  await change(writing);
  const { batches, ...listed } = await state;
  t.strictSame(listed, { position, total: objects });
  const serials: string[] = [];
  for await (const batch of batches)
    serials.push(...batch.map((bytes) => (JSON.parse(Buffer.from(bytes).toString('utf8')) as Item).spec.serial));
  t.strictSame(serials, before);
  t.strictSame([...(await names)].sort(), before.toReversed());
});

test('an abandoned list holds nothing', async (t) => {
  const writing = await given(t);
  const { models } = writing;
  for (let list = 0; list <= snapshotsMax; list += 1) {
    longOf(models.list(widget.key, sorted)).leave();
    await t.rejects(longOf(models.list(widget.key, sorted)).rest(AbortSignal.abort()), { name: 'AbortError' });
  }
  const held = [];
  for (let list = 0; list < snapshotsMax; list += 1) held.push(await longOf(models.list(widget.key, sorted)).rest());
  await t.rejects(longOf(models.list(widget.key, sorted)).rest(), { name: 'SnapshotsExhaustedError' });
  await t.rejects(models.objects(widget.key, sorted), { name: 'SnapshotsExhaustedError' });
  for (const page of held) t.equal((await itemsOf(page)).length, objects);
  t.equal((await itemsOf(await longOf(models.list(widget.key, sorted)).rest())).length, objects);
});

test('an abandoned initial state or choice of names ends at its next turn and holds nothing', async (t) => {
  const writing = await given(t);
  const { models } = writing;
  const left = new AbortController();
  const looks = (): number => writing.clock.monotonic() / 100;
  const chosen: Promise<unknown>[] = [
    models.objects(widget.key, sorted, left.signal),
    models.names(widget.key, everything, left.signal),
  ];
  const before = looks();
  left.abort();
  for (const choice of chosen) await t.rejects(choice, { name: 'AbortError' });
  t.ok(looks() - before < 10, 'it is not gone on with');
  for (let state = 0; state < snapshotsMax; state += 1)
    await t.rejects(models.objects(widget.key, sorted, left.signal), { name: 'AbortError' });
  const { batches } = await models.objects(widget.key, sorted);
  let length = 0;
  for await (const batch of batches) length += batch.length;
  t.equal(length, objects);
});

test('the choice of a disconnected watch ends at its next turn', async (t) => {
  const writing = await given(t);
  const { models, log, clock } = writing;
  const hub = new WatchHub({
    feed: models,
    reader: models,
    log,
    clock,
    report: (error) => {
      t.fail(String(error));
    },
  });
  t.teardown(() => {
    hub.closeAll();
  });
  const labels = Array.from({ length: 64 }, () => ({ key: 'none', operator: 'absent' }) as const);
  const sink = new RecordingSink();
  const watcher = hub.open(
    {
      type: widget,
      name: undefined,
      subject: visitor,
      client: clientOf(visitor, '127.0.0.1'),
      selection: { labels, fields: [] },
      start: { kind: 'state', notBefore: undefined, marksEnd: false },
      bookmarks: false,
      timeoutMs: undefined,
    },
    sink,
  );
  while (models.snapshots.held === 0) await nextTurn();
  for (let turn = 0; turn < 4; turn += 1) await nextTurn();
  t.equal(models.snapshots.held, 1, 'it takes many turns to choose');
  watcher.closed();
  for (let turn = 0; turn < 4; turn += 1) await nextTurn();
  t.equal(models.snapshots.held, 0);
  t.equal(sink.written.length, 0);
});

test('a list that fits one answer takes no snapshot, and a longer one takes it with its first slice', async (t) => {
  const writing = await given(t);
  // All is chosen in one turn.
  writing.clock.monotonic = () => 0;
  const { models } = writing;
  const chosen = (window: ListQuery['window']): ListPage => {
    const listed = models.list(widget.key, { ...sorted, window });
    if ('rest' in listed) throw new Error('it takes several turns');
    return listed;
  };
  const page: ListQuery['window'] = { kind: 'page', page: 1, size: 20 };
  const unread = Array.from({ length: 2 * snapshotsMax }, () => chosen({ kind: 'all' }));
  for (let list = 0; list < 2 * snapshotsMax; list += 1) t.ok(chosen(page).items instanceof Uint8Array);
  const reading = unread.map(({ items }) => {
    if (items instanceof Uint8Array) throw new Error('it fits one answer');
    return items;
  });
  const held = reading.slice(0, snapshotsMax).map((items) => items()[Symbol.asyncIterator]());
  for (const one of held) t.notOk((await one.next()).done);
  t.throws(() => reading[snapshotsMax]?.(), { name: 'SnapshotsExhaustedError' });
  t.equal((await itemsOf(chosen(page))).length, 20, 'while others hold them all');
  for (const one of held) await one.return?.();
  t.equal((await itemsOf(chosen({ kind: 'all' }))).length, objects);
});
