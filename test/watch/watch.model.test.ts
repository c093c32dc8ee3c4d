import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { visitor } from '../../src/command/subject.ts';
import { logPosition, type LogPosition } from '../../src/log/log.ts';
import { indexOf, type Selection } from '../../src/resource/query/list-query.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { must } from '../../src/base/unreachable.ts';
import { clientOf } from '../../src/read/client.ts';
import { Outboxes, type OutboxBounds } from '../../src/watch/outbox.ts';
import { WatchHub } from '../../src/watch/hub.ts';
import type { WatchStart } from '../../src/watch/watch-plan.ts';
import type { Watcher } from '../../src/watch/watcher.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects, WidgetWriter } from '../support/memory/memory-objects.ts';
import { widgetType, type WidgetContent } from '../support/watched-type.ts';
import { RecordingSink, type Seen } from './recording-sink.ts';

/**
 * Any interleaving of writes, folds, watches, slow readers and reconnections, against the plainest account of what a
 * watch is: the changes after a position, as they look to one selection.
 */

const names = ['a', 'b', 'c'];

type Written = {
  readonly position: bigint;
  readonly name: string;
  readonly content: WidgetContent | undefined;
  readonly last: WidgetContent | undefined;
};

/** The history of one type, kept by the test alone. Fences without an object are no changes. */
class History {
  readonly writes: Written[] = [];
  readonly state = new Map<string, WidgetContent>();

  note(name: string, content: WidgetContent | 'deleted' | 'fenced', position: bigint): void {
    const last = this.state.get(name);
    const next = content === 'fenced' ? last : content === 'deleted' ? undefined : content;
    if (content === 'fenced' && last === undefined) return;
    this.writes.push({ position, name, content: next, last });
    if (next === undefined) this.state.delete(name);
    else this.state.set(name, next);
  }
}

type Selecting = {
  readonly label: string;
  readonly name?: string;
  readonly selection: (type: ResourceType) => Selection;
  readonly selects: (name: string, content: WidgetContent) => boolean;
};

const nothing = { labels: [], fields: [] };
const selectings: readonly Selecting[] = [
  { label: 'everything', selection: () => nothing, selects: () => true },
  {
    label: 'app=x',
    selection: () => ({ labels: [{ key: 'app', operator: 'in', values: ['x'] }], fields: [] }),
    selects: (_, { labels }) => labels?.['app'] === 'x',
  },
  {
    label: 'size>=5',
    selection: (type) => ({ labels: [], fields: [{ index: place(type, 'spec.size'), operator: '>=', key: 5 }] }),
    selects: (_, { size = -1 }) => size >= 5,
  },
  { label: 'the one b', name: 'b', selection: () => nothing, selects: (name) => name === 'b' },
  {
    label: 'metadata.name=c',
    selection: (type) => ({
      labels: [],
      fields: [{ index: place(type, 'metadata.name'), operator: 'in', keys: ['c'] }],
    }),
    selects: (name) => name === 'c',
  },
  {
    label: 'metadata.name in (a,b)',
    selection: (type) => ({
      labels: [],
      fields: [{ index: place(type, 'metadata.name'), operator: 'in', keys: ['a', 'b'] }],
    }),
    selects: (name) => name !== 'c',
  },
  {
    label: '!app,size<8',
    selection: (type) => ({
      labels: [{ key: 'app', operator: 'absent' }],
      fields: [{ index: place(type, 'spec.size'), operator: '<', key: 8 }],
    }),
    selects: (_, { labels, size = Infinity }) => labels?.['app'] === undefined && size < 8,
  },
];

function place(type: ResourceType, field: string): number {
  return must(indexOf(type.indexes, field), `${field} is indexed`);
}

/**
 * One client: it comes back where it was whenever it is cut off or drops, so its connections together are one watch.
 */
type Client = {
  readonly selecting: Selecting;
  readonly start: WatchStart;
  sink: RecordingSink;
  watcher: Watcher;
  resumedFrom: bigint | undefined;
  readonly earlier: Seen[];
};

class World {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly type = widgetType();
  readonly writer = new WidgetWriter(this.log);
  readonly others = new WidgetWriter(this.log, 'gadgets');
  readonly history = new History();
  readonly objects = new MemoryObjects(this.log, this.clock, [this.type, widgetType('gadgets')]);
  readonly faults: unknown[] = [];
  readonly outboxes: Outboxes;
  readonly hub: WatchHub;
  readonly clients: Client[] = [];

  constructor(recentChanges: number, bounds: OutboxBounds) {
    this.outboxes = new Outboxes(this.clock, bounds);
    this.hub = new WatchHub({
      feed: this.objects,
      reader: this.objects,
      log: this.log,
      clock: this.clock,
      report: (error) => {
        this.faults.push(error);
      },
      recent: { bytesMax: 1_000_000, changesMax: recentChanges },
      outboxes: this.outboxes,
    });
  }

  async write(name: string, content: WidgetContent | 'deleted' | 'fenced'): Promise<void> {
    this.history.note(name, content, await this.writer.write(name, content));
  }

  watch(selecting: Selecting, start: WatchStart): void {
    const sink = new RecordingSink();
    this.clients.push({
      selecting,
      start,
      sink,
      watcher: this.connect(selecting, start, sink),
      resumedFrom: undefined,
      earlier: [],
    });
  }

  connect({ selection, name }: Selecting, start: WatchStart, sink: RecordingSink): Watcher {
    return this.hub.open(
      {
        type: this.type,
        name,
        subject: visitor,
        client: clientOf(visitor, String(this.clients.length % 3)),
        selection: selection(this.type),
        start,
        bookmarks: true,
        timeoutMs: undefined,
      },
      sink,
    );
  }

  /**
   * As a client does: from the last thing it saw. One that was cut within its initial state has nothing to resume from.
   */
  resume(client: Client): void {
    client.watcher.closed();
    const seen = client.sink.seen;
    const from = placeReached(client, seen);
    if (from !== undefined) client.earlier.push(...seen);
    else client.earlier.length = 0;
    client.resumedFrom = from;
    client.sink = new RecordingSink();
    client.watcher = this.connect(
      client.selecting,
      from === undefined ? client.start : { kind: 'after', position: logPosition(from) },
      client.sink,
    );
  }

  async settle(): Promise<void> {
    await this.objects.fold();
    for (let round = 0; round < 400; round += 1) {
      for (const client of this.clients) {
        client.sink.unblock();
        if (client.watcher.state === 'closed') this.resume(client);
      }
      if (this.clients.every(({ watcher }) => watcher.state === 'live')) return;
      await nextTurn();
    }
    throw new Error('a watcher never became live');
  }
}

function placeReached({ start, resumedFrom }: Client, seen: readonly Seen[]): bigint | undefined {
  if (start.kind === 'state' && resumedFrom === undefined && !seen.some(({ endMark }) => endMark)) return undefined;
  const last = seen.at(-1);
  if (last !== undefined) return BigInt(last.resourceVersion);
  return resumedFrom ?? (start.kind === 'after' ? start.position : undefined);
}

function expectedAfter(history: History, after: bigint, { selects }: Selecting): readonly string[] {
  const selected = new Set<string>();
  const expected: string[] = [];
  for (const { position, name, content, last } of history.writes) {
    const was = selected.has(name);
    const is = content !== undefined && selects(name, content);
    if (is) selected.add(name);
    else selected.delete(name);
    if (position <= after || (!was && !is)) continue;
    const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
    expected.push(`${type} ${name}@${position.toString()} ${contentText(is ? content : (last ?? {}))}`);
  }
  return expected;
}

function expectedState(history: History, at: bigint, { selects }: Selecting): readonly string[] {
  const state = new Map<string, string>();
  for (const { position, name, content } of history.writes) {
    if (position > at) continue;
    if (content !== undefined && selects(name, content))
      state.set(name, `ADDED ${name}@${position.toString()} ${contentText(content)}`);
    else state.delete(name);
  }
  return [...state.values()].sort();
}

function contentText({ labels, size }: WidgetContent): string {
  return `app=${labels?.['app'] ?? ''} size=${String(size ?? '')}`;
}

function seenText({ type, name, resourceVersion, labels, spec }: Seen): string {
  return (
    `${type} ${name}@${resourceVersion} ` +
    contentText({ labels: (labels ?? {}) as Record<string, string>, ...(spec as WidgetContent) })
  );
}

function verify(history: History, client: Client): void {
  const seen = [...client.earlier, ...client.sink.seen];
  const end = client.start.kind === 'state' ? seen.findIndex(({ endMark }) => endMark) : -1;
  const from =
    client.start.kind === 'state'
      ? BigInt(must(seen[end], 'the end of the state is marked').resourceVersion)
      : client.start.kind === 'after'
        ? client.start.position
        : 0n;
  const state = seen
    .slice(0, end + 1)
    .filter(({ endMark }) => !endMark)
    .map(seenText)
    .sort();
  assertEqual(
    state,
    client.start.kind === 'state' ? expectedState(history, from, client.selecting) : [],
    `${client.selecting.label}: the state at ${from.toString()}`,
  );
  assertEqual(
    seen.slice(end + 1).map(seenText),
    expectedAfter(history, from, client.selecting),
    `${client.selecting.label}: after ${from.toString()}`,
  );
}

function assertEqual(actual: readonly string[], expected: readonly string[], what: string): void {
  if (actual.join('\n') !== expected.join('\n'))
    throw new Error(`${what}\nsaw:\n${actual.join('\n')}\nexpected:\n${expected.join('\n')}`);
}

/** Without an effect, and so tight that common bounds are met before those of single watchers, or after. */
const wide: OutboxBounds = { bytesMax: 100_000_000, accountBytesMax: 100_000_000, watcherBytesMax: 10_000_000 };
const tight = [
  wide,
  { ...wide, watcherBytesMax: 600 },
  { ...wide, accountBytesMax: 2_500 },
  { ...wide, bytesMax: 5_000 },
];

type Model = { writes: number };
type Command = fc.AsyncCommand<Model, World>;

class Write implements Command {
  readonly name: string;
  readonly content: WidgetContent | 'deleted' | 'fenced';

  constructor(name: string, content: WidgetContent | 'deleted' | 'fenced') {
    this.name = name;
    this.content = content;
  }

  check(): boolean {
    return true;
  }

  async run(_model: Model, world: World): Promise<void> {
    if (this.content === 'deleted' && !world.writer.exists(this.name)) return;
    await world.write(this.name, this.content);
    await world.others.write(this.name, { size: 9 });
  }

  toString(): string {
    return `${this.name} := ${JSON.stringify(this.content)}`;
  }
}

class Step implements Command {
  readonly #what: string;
  readonly #take: (world: World) => void | Promise<void>;

  constructor(what: string, take: (world: World) => void | Promise<void>) {
    this.#what = what;
    this.#take = take;
  }

  check(): boolean {
    return true;
  }

  async run(_model: Model, world: World): Promise<void> {
    await this.#take(world);
  }

  toString(): string {
    return this.#what;
  }
}

function pick<T>(items: readonly T[], seed: number): T | undefined {
  return items[seed % Math.max(1, items.length)];
}

const content = fc.record({
  labels: fc.constantFrom({}, { app: 'x' }, { app: 'y' }),
  size: fc.integer({ min: 0, max: 9 }),
});
const seed = fc.nat({ max: 1_000 });
const selecting = fc.constantFrom(...selectings);

const commands = [
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.oneof(
        { weight: 6, arbitrary: content },
        fc.constantFrom<'deleted' | 'fenced'>('deleted', 'deleted', 'fenced'),
      ),
    )
    .map(([name, written]) => new Write(name, written)),
  fc.tuple(fc.constantFrom(...names), content).map(([name, written]) => new Write(name, written)),
  fc.integer({ min: 1, max: 4 }).map(
    (size) =>
      new Step(`fold by ${String(size)}`, async (world) => {
        await world.objects.fold(size);
      }),
  ),
  fc.integer({ min: 1, max: 4 }).map(
    (turns) =>
      new Step(`${String(turns)} turns`, async () => {
        for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      }),
  ),
  fc.tuple(selecting, seed).map(
    ([selected, from]) =>
      new Step(`watch ${selected.label} from ${String(from)}‰ of the log`, async (world) => {
        const position = BigInt(Math.floor((Number(await world.log.head()) * from) / 1_000));
        world.watch(selected, { kind: 'after', position: logPosition(position) });
      }),
  ),
  selecting.map(
    (selected) =>
      new Step(`watch ${selected.label} from the head`, async (world) => {
        world.watch(selected, { kind: 'after', position: await world.log.head() });
      }),
  ),
  selecting.map(
    (selected) =>
      new Step(`list and watch ${selected.label}`, (world) => {
        world.watch(selected, { kind: 'state', notBefore: undefined, marksEnd: true });
      }),
  ),
  seed.map(
    (which) =>
      new Step(`client ${String(which)} stops reading`, (world) => {
        pick(world.clients, which)?.sink.block();
      }),
  ),
  seed.map(
    (which) =>
      new Step(`client ${String(which)} reads on`, (world) => {
        pick(world.clients, which)?.sink.unblock();
      }),
  ),
  seed.map(
    (which) =>
      new Step(`client ${String(which)} reconnects`, (world) => {
        const client = pick(world.clients, which);
        if (client !== undefined) world.resume(client);
      }),
  ),
];

test('every watcher sees exactly the later changes, filtered by its selection', async (t) => {
  const runs = Number(process.env['PBT_RUNS'] ?? 150);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 2, 5, 1_000),
      fc.constantFrom(...tight),
      fc.commands(commands, { maxCommands: 80, size: 'max' }),
      async (recentChanges, bounds, steps) => {
        const world = new World(recentChanges, bounds);
        await fc.asyncModelRun(() => ({ model: { writes: 0 }, real: world }), steps);
        await world.settle();
        if (world.faults.length > 0) throw world.faults[0];
        for (const client of world.clients) verify(world.history, client);
      },
    ),
    { numRuns: runs },
  );
  t.pass(`${String(runs)} runs`);
});

test('a watch from the first position replays the whole log', async (t) => {
  const world = new World(0, wide);
  const positions: LogPosition[] = [];
  for (let write = 0; write < 1_500; write += 1)
    positions.push(await world.writer.write(pick(names, write) ?? '', { size: write % 10, text: 'x'.repeat(1_000) }));
  await world.objects.fold();
  world.watch(must(selectings[0], 'everything'), { kind: 'after', position: logPosition(0n) });
  await world.settle();
  t.strictSame(
    world.clients[0]?.sink.seen.map(({ resourceVersion }) => resourceVersion),
    positions.map(String),
  );
  t.ok((world.clients[0]?.sink.written.length ?? 0) > 3, 'in slices');
});
