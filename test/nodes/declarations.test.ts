/** Nodes with another declaration of a type than the last one in the log: which node declares, and which one writes. */
import { test, type Test } from 'tap';

import { Declarer } from '../../reconcilers/platform/declarer.ts';
import { claimStream } from '../../src/write/unique/unique-claims.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { levelRead } from '../../src/command/level.ts';
import { leaseMs } from '../../src/limits/reconcilers.ts';
import { decodeEvent, decodeMetadata, encodeEvent } from '../../src/log/event-codec.ts';
import { streamName, type RecordedEvent } from '../../src/log/log.ts';
import type { DeclarationSource } from '../../src/resource/type/declaration.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { body, create, merge, remove, valuesOf, widget, widgets, widgetType } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { shown, verdict } from '../support/writing.ts';
import { openDoors, type Doors } from './support/doors.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const stream = streamName(`type:${widgets.key}`);
const of = (version: string, code: string, source: DeclarationSource = 'folder', changes = {}): ResourceType =>
  widgetType(changes, { version, code, source });

/** A node: its declaration of the type, and whether it believes to be the leader. */
class Node {
  type: ResourceType;
  readonly lines: string[] = [];
  readonly declarer: Declarer;
  readonly #doors: Doors;
  readonly #place: number;
  readonly #listeners = new Set<(leads: boolean) => void>();
  #leads = false;

  constructor(
    doors: Doors,
    place: number,
    { type, isAlone = false }: { readonly type: ResourceType; readonly isAlone?: boolean },
  ) {
    const { log, clock } = doors;
    const { models } = doors.doors[place]!;
    let ids = 0;
    this.type = type;
    this.#doors = doors;
    this.#place = place;
    this.declarer = new Declarer({
      log,
      reader: models,
      declarations: models.declarations,
      level: { level: () => levelRead, subscribe: () => () => undefined },
      clock,
      isAlone,
      typeOf: () => this.type,
      served: () => [this.type],
      leadership: {
        isLeader: () => this.#leads,
        subscribe: (listener) => {
          this.#listeners.add(listener);
          return () => {
            this.#listeners.delete(listener);
          };
        },
      },
      uuid: () => {
        ids += 1;
        return idOf(`declarer ${String(place)} ${String(ids)}`);
      },
      metadata: () => metadata,
      onOther: (_type, { version }) => {
        this.lines.push(version);
      },
      onError: (error) => {
        throw error;
      },
    });
  }

  lead(leads: boolean): void {
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }

  async declare(): Promise<void> {
    return this.#doors.settle(this.declarer.declare([this.type]));
  }

  async write(command: Parameters<Doors['doors'][0]['write']>[0]) {
    return this.#doors.doors[this.#place]!.write(command, {}, this.type);
  }
}

async function opened(
  t: Test,
  ...types: readonly ResourceType[]
): Promise<{ readonly doors: Doors; readonly nodes: readonly Node[] }> {
  const doors = await openDoors(t, types.length);
  const nodes = types.map((type, index) => new Node(doors, index, { type }));
  t.teardown(() => {
    for (const { declarer } of nodes) declarer.stop();
  });
  return { doors, nodes };
}

async function declaredIn({ log, settle }: Doors): Promise<readonly string[]> {
  const events = await settle(log.readStream(stream, { from: 0 as never, limit: 100 }));
  return events.map((recorded) => {
    const { event } = decodeEvent(recorded);
    return event.type === 'TypeDeclared' ? `${event.version} ${event.code}` : event.type;
  });
}

/** Once every node has folded all there is. */
async function caughtUp({ doors, log, settle }: Doors): Promise<void> {
  const head = await settle(log.head());
  for (const door of doors) {
    door.letTo(head);
    await settle(door.models.reached(head, { timeoutMs: 1_000 }));
  }
}

async function last({ log, settle }: Doors, name: string): Promise<RecordedEvent> {
  const recorded = await settle(log.readLast(streamName(`object:${widgets.key}/${name}`)));
  if (recorded === undefined) throw new Error(`nothing was written of ${name}`);
  return recorded;
}

const named = (name: string, serial?: string) =>
  create(body({ metadata: { name }, spec: { title: name, ...(serial === undefined ? {} : { serial }) } }));

test('before any declaration every node writes; afterwards the nodes with the last declaration', async (t) => {
  const {
    doors,
    nodes: [one, two],
  } = await opened(t, of('1.0.0', 'a'), of('1.0.0', 'b'));
  for (const [node, name] of [
    [one, 'w1'],
    [two, 'w2'],
  ] as const) {
    shown(await node!.write(named(name)));
    t.equal(decodeMetadata(await last(doors, name)).declared, undefined);
  }
  one!.lead(true);
  await one!.declare();
  await caughtUp(doors);
  shown(await one!.write(merge({ spec: { title: 'Two' } }, { name: 'w2' })));
  t.equal(decodeMetadata(await last(doors, 'w2')).declared, 0);
  await caughtUp(doors);
  for (const command of [named('w3'), merge({ spec: { title: 'Three' } }, { name: 'w1' }), remove({}, 'w1')]) {
    t.match(await two!.write(command), {
      ok: false,
      rejection: {
        reason: 'unavailable',
        lasts: true,
        retryAfterSeconds: 5,
        detail: new RegExp(
          String.raw`^widgets\.example\.com is declared by the plugin example 1\.0\.0 \(shape [0-9a-f]{12}, ` +
            String.raw`code a\), and this server has the plugin example 1\.0\.0 \(shape [0-9a-f]{12}, code b\)\. ` +
            'This server accepts no writes of widgets until both declarations are the same, for example at the end ' +
            'of an upgrade: nothing was written; repeat the request later$',
          'u',
        ),
      },
    });
  }
  t.match(doors.doors[1]!.object('w2'), { spec: { title: 'Two' } }, 'reads go on');
  await two!.declare();
  t.same(two!.lines, ['1.0.0']);
  t.same(await declaredIn(doors), ['1.0.0 a'], 'a follower declares nothing');
});

test('a new leader declares its type, also for the same version, and the other node refuses writes', async (t) => {
  const {
    doors,
    nodes: [one, two],
  } = await opened(t, of('1.0.0', 'a'), of('1.0.0', 'b'));
  one!.lead(true);
  await one!.declare();
  await one!.declare();
  one!.lead(false);
  await caughtUp(doors);
  two!.lead(true);
  await two!.declare();
  await caughtUp(doors);
  t.same(await declaredIn(doors), ['1.0.0 a', '1.0.0 b']);
  t.equal(verdict(await one!.write(named('w1'))), 'unavailable');
  shown(await two!.write(named('w1')));
  t.equal(decodeMetadata(await last(doors, 'w1')).declared, 1);
  two!.type = of('1.0.0', 'c');
  await two!.declare();
  t.same(await declaredIn(doors), ['1.0.0 a', '1.0.0 b', '1.0.0 c'], 'its files changed while it leads');
});

test('an older folder declares nothing; an older package does, and so does a single node', async (t) => {
  for (const [source, isAlone, expected] of [
    ['folder', false, ['2.0.0 a']],
    ['package', false, ['2.0.0 a', '1.0.0 b']],
    ['platform', false, ['2.0.0 a', '1.0.0 b']],
    ['folder', true, ['2.0.0 a', '1.0.0 b']],
  ] as const) {
    const doors = await openDoors(t, 2);
    const newer = new Node(doors, 0, { type: of('2.0.0', 'a') });
    const older = new Node(doors, 1, { type: of('1.0.0', 'b', source), isAlone });
    newer.lead(true);
    await newer.declare();
    newer.lead(false);
    await caughtUp(doors);
    older.lead(true);
    await older.declare();
    t.same(await declaredIn(doors), expected, `${source}${isAlone ? ', alone' : ''}`);
    t.equal(verdict(await older.write(named('w1'))), expected.length === 2 ? 'ok' : 'unavailable');
    t.same(older.lines, expected.length === 2 ? [] : ['2.0.0']);
  }
});

test("of two presumed leaders the last declaration holds, and the leader's once the other is deposed", async (t) => {
  const {
    doors,
    nodes: [one, two],
  } = await opened(t, of('1.0.0', 'a'), of('1.0.0', 'b'));
  one!.lead(true);
  two!.lead(true);
  await doors.settle(Promise.all([one!.declarer.declare([one!.type]), two!.declarer.declare([two!.type])]));
  await caughtUp(doors);
  const both = await declaredIn(doors);
  t.same([...both].sort(), ['1.0.0 a', '1.0.0 b'], 'each declared once, in either order');
  const [loser, winner] = both[1] === '1.0.0 a' ? [two!, one!] : [one!, two!];
  t.equal(verdict(await loser.write(named('w1'))), 'unavailable');
  shown(await winner.write(named('w1')));
  winner.lead(false);
  doors.clock.advance(leaseMs);
  await loser.declare();
  t.equal((await declaredIn(doors)).length, 3);
  shown(await loser.write(merge({ spec: { title: 'Two' } })));
});

test('a write decided by an older declaration is not sent once another one is folded', async (t) => {
  const {
    doors,
    nodes: [one],
  } = await opened(t, of('1.0.0', 'a'));
  one!.lead(true);
  await one!.declare();
  const [value] = valuesOf(widget({ spec: { title: 'One', serial: 's' } }));
  const claim = claimStream(widgets.key, value!);
  // A foreign claim with a pending append: the write waits meanwhile.
  const dead = encodeEvent(
    idOf('dead'),
    { type: 'ValueClaimed', holder: `object:${widgets.key}/dead`, through: -1 },
    metadata,
  );
  await doors.settle(doors.log.append(claim, [dead], 'absent'));
  const before = one!.type;
  const writing = doors.doors[0]!.begin(named('w1', 's'), {}, before);
  one!.type = of('1.0.1', 'b');
  await one!.declare();
  t.equal(verdict(await doors.settle(writing)), 'unavailable');
  t.equal(await doors.settle(doors.log.readLast(streamName(`object:${widgets.key}/w1`))), undefined);
  shown(await one!.write(named('w1', 's')));
});

test('a fence keeps the declaration of the state that it repeats', async (t) => {
  const {
    doors,
    nodes: [one],
  } = await opened(t, of('1.0.0', 'a'));
  one!.lead(true);
  await one!.declare();
  shown(await one!.write(named('w1')));
  one!.type = of('1.0.1', 'b');
  await one!.declare();
  const [value] = valuesOf(widget({ spec: { title: 'One', serial: 's' } }));
  const dead = encodeEvent(
    idOf('dead'),
    { type: 'ValueClaimed', holder: `object:${widgets.key}/w1`, through: 0 },
    metadata,
  );
  await doors.settle(doors.log.append(claimStream(widgets.key, value!), [dead], 'absent'));
  shown(await one!.write(named('w2', 's')));
  const fence = await last(doors, 'w1');
  t.match([fence.type, decodeMetadata(fence).declared], ['NameFenced', 0]);
  t.equal(decodeMetadata(await last(doors, 'w2')).declared, 1);
});

test('the next events claim values that a declaration makes unique, also without any earlier event', async (t) => {
  const {
    doors,
    nodes: [one],
  } = await opened(t, of('1.0.0', 'a'));
  one!.lead(true);
  await one!.declare();
  one!.type = of('1.1.0', 'b', 'folder', { indexes: [{ name: 'spec.serial' }] });
  await one!.declare();
  shown(await one!.write(named('w1', 's')));
  t.match(decodeEvent(await last(doors, 'w1')).event, { values: [{ index: 'spec.serial' }] });
});

/** The holder of a serial now. */
async function claimantOf({ log, settle }: Doors, serial: string): Promise<string | undefined> {
  const [value] = valuesOf(widget({ spec: { title: 'One', serial } }));
  const standing = await settle(log.readLast(claimStream(widgets.key, value!)));
  const event = standing === undefined ? undefined : decodeEvent(standing).event;
  return event?.type === 'ValueClaimed' ? event.holder.replace(/^.*\//u, '') : undefined;
}

const serialAndTitle = {
  indexes: [
    { name: 'spec.serial', unique: true },
    { name: 'spec.title', unique: true },
  ],
};
const titleAlone = { indexes: [{ name: 'spec.serial' }, { name: 'spec.title', unique: true }] };

test('values held while their index was not unique are claimed with the next write, by one of two', async (t) => {
  const {
    doors,
    nodes: [one],
  } = await opened(t, of('1.0.0', 'a', 'folder', serialAndTitle));
  one!.lead(true);
  const declare = async (version: string, changes: object): Promise<void> => {
    one!.type = of(version, version, 'folder', changes);
    await one!.declare();
    await caughtUp(doors);
  };
  await one!.declare();
  shown(await one!.write(named('kept', 'k')));
  await declare('1.1.0', titleAlone);
  for (const name of ['b', 'c']) shown(await one!.write(named(name, 's')));
  t.match(decodeEvent(await last(doors, 'b')).event, { values: [{ index: 'spec.serial' }, { index: 'spec.title' }] });
  await declare('1.2.0', serialAndTitle);
  await doors.doors[0]!.models.buildIndexes(one!.type);
  t.equal(await claimantOf(doors, 's'), undefined);
  t.equal(verdict(await one!.write(merge({ spec: { title: 'kept' } }, { name: 'b' }))), 'unique-value-taken');
  t.equal(await claimantOf(doors, 's'), 'b', 'refused for another value, it does not give up what its object holds');
  shown(await one!.write(merge({ spec: { title: 'B' } }, { name: 'b' })));
  t.equal(verdict(await one!.write(merge({ spec: { title: 'C' } }, { name: 'c' }))), 'unique-value-taken');
  shown(await one!.write(merge({ spec: { serial: 's2' } }, { name: 'c' })));
  const before = await doors.settle(doors.log.head());
  shown(await one!.write(merge({ spec: { title: 'again' } }, { name: 'c' })));
  t.equal(
    Number(await doors.settle(doors.log.head())) - Number(before),
    2,
    "claimed once: the title's claim and the object",
  );
});

test('an object can be deleted after another one has claimed its value, with and without finalizers', async (t) => {
  const {
    doors,
    nodes: [one],
  } = await opened(t, of('1.0.0', 'a', 'folder', titleAlone));
  one!.lead(true);
  await one!.declare();
  const held = { metadata: { name: 'd', finalizers: ['example.com/hold'] }, spec: { title: 'd', serial: 's' } };
  for (const command of [named('b', 's'), named('c', 's'), create(body(held))]) shown(await one!.write(command));
  one!.type = of('1.1.0', 'b', 'folder', serialAndTitle);
  await one!.declare();
  await caughtUp(doors);
  shown(await one!.write(merge({ metadata: { labels: { app: 'x' } } }, { name: 'b' })));
  t.equal(
    verdict(await one!.write(merge({ metadata: { labels: { app: 'x' } } }, { name: 'c' }))),
    'unique-value-taken',
  );
  for (const name of ['c', 'd']) shown(await one!.write(remove({}, name)));
  t.match(
    decodeEvent(await last(doors, 'd')).event,
    { type: 'ObjectDeletionRequested', values: [{ index: 'spec.title' }] },
    'it holds what nobody else has claimed',
  );
  const status = merge({ metadata: { labels: { app: 'x' } } }, { name: 'd' });
  shown(await one!.write(status));
  t.equal(
    verdict(await one!.write(merge({ spec: { title: 'b' } }, { name: 'd' }))),
    'unique-value-taken',
    'it gains nothing',
  );
  shown(await one!.write(merge({ metadata: { finalizers: null } }, { name: 'd' })));
  t.same(
    [await last(doors, 'c'), await last(doors, 'd')].map(({ type }) => type),
    ['ObjectDeleted', 'ObjectDeleted'],
  );
  t.equal(await claimantOf(doors, 's'), 'b');
});
