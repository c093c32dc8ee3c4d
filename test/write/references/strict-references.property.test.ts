import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'tap';

import { foldedCategories } from '../../../projections/fold-event.ts';
import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { Command } from '../../../src/command/command.ts';
import { eventSchema } from '../../../src/command/event.ts';
import { decodeEvent, encodeEvent, isObjectEvent } from '../../../src/log/event-codec.ts';
import { logStart, streamName, type LogPosition, type RecordedEvent } from '../../../src/log/log.ts';
import { namedTargets } from '../../../src/resource/references/named-targets.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { createWriteDoor, type Execute } from '../../../src/write/execute.ts';
import { noRules } from '../../../src/write/rules.ts';
import { drawnClock, drawnLog } from '../../support/drawn-schedule.ts';
import { create, merge, remove } from '../../support/given.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { groups, linkType } from '../../support/referring.ts';
import { domain } from '../../support/sample.ts';
import { altered, verdict, writeContext } from '../../support/writing.ts';

/**
 * Nodes with real write doors and read models, which fold only when a write waits, write links that name groups, and
 * delete the groups, over a log that delays every call in an order that the scheduler draws. Some nodes die before the
 * append of an object, which arrives later or never. No link may ever name a group that does not exist.
 */
const links = linkType({ onMissing: 'refuse', onDelete: 'refuse' });
const types: readonly ResourceType[] = [groups, links];
const runs = Number(process.env['PBT_RUNS'] ?? 150);
const seed = process.env['PBT_SEED'];
const replay = seed === undefined ? {} : { seed: Number(seed) };
const nodes = 3;

type Write = {
  readonly kind: 'make' | 'name' | 'free' | 'unlink' | 'delete' | 'found';
  readonly link: number;
  readonly group: number;
};
/** `hops`: the number of calls of the others for which the last append of a node that dies is delayed. */
type Plan = { readonly writes: readonly Write[]; readonly dies: boolean; readonly hops: number };

const plan: fc.Arbitrary<Plan> = fc.record({
  writes: fc.array(
    fc.record({
      kind: fc.constantFrom<Write['kind'][]>(
        'name',
        'name',
        'name',
        'delete',
        'delete',
        'delete',
        'found',
        'found',
        'free',
        'make',
        'unlink',
      ),
      link: fc.nat(1),
      group: fc.nat(1),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  dies: fc.boolean(),
  hops: fc.nat(40),
});

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ledgerplane-references-'));
const pool = Array.from({ length: nodes }, (_, index) => new LmdbTables(join(folder, String(index))));

type Counts = Record<string, number>;
type History = { readonly isAnnounced: boolean; readonly counts: Counts };

function property(history: History) {
  return fc.asyncProperty(fc.scheduler(), fc.array(plan, { minLength: 2, maxLength: 4 }), async (scheduler, plans) => {
    const world = new World(scheduler, history);
    try {
      await world.begin();
      await scheduler.waitFor(Promise.all(plans.map((each, index) => world.run(each, index % nodes))));
      await world.lateArrive();
    } finally {
      await world.close();
    }
  });
}

test('no link names a deleted group, for any order of the writes of several nodes', async (t) => {
  const counts: Counts = {};
  await fc.assert(property({ isAnnounced: true, counts }), { numRuns: runs, endOnFailure: true, ...replay });
  for (const [outcome, least] of [
    ['ok', runs],
    ['referenced', runs / 20],
    ['invalid', runs / 75],
    ['died', runs / 20],
  ] as const)
    t.ok((counts[outcome] ?? 0) > least, `${outcome}: ${JSON.stringify(counts)}`);
});

test('nodes that do not read the intents of others soon delete a named group', async (t) => {
  const found = await fc.check(property({ isAnnounced: false, counts: {} }), { numRuns: runs, endOnFailure: true });
  t.ok(found.failed);
  t.match(String(found.errorInstance), /names a deleted group/u);
});

test('the folders are removed', async () => {
  for (const tables of pool) await tables.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A node, which folds only as far as a write waits. */
class Node {
  readonly models: ObjectModels;
  readonly execute: Execute;
  /** The node dies at its next append to an object, which arrives after this number of calls of the others. */
  diesAfter: number | undefined;
  readonly death: Promise<'died'>;
  readonly #log: MemoryLog;
  readonly #pause: () => Promise<void>;

  constructor(tables: LmdbTables, { log, slow, clock, pause, uuid, isAnnounced, late }: NodeParts) {
    [this.#log, this.#pause] = [log, pause];
    const models = new ObjectModels({
      tables,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => types.find((type) => type.key === key),
      clock,
    });
    this.models = models;
    const { references } = models;
    const reader = proxied(models, { reached: async (position: LogPosition) => this.fold(position) });
    const blind = proxied(references, { naming: () => [], closings: () => [] });
    let die: (died: 'died') => void = () => undefined;
    this.death = new Promise((resolve) => {
      die = resolve;
    });
    let isDead = false;
    this.execute = createWriteDoor({
      log: altered(log, {
        ...slow,
        append: async (stream, ...rest) => {
          const { diesAfter: hops } = this;
          if (!isDead && (hops === undefined || !stream.startsWith('object:'))) return slow.append(stream, ...rest);
          if (!isDead && hops !== undefined) late.push({ hops, append: () => log.append(stream, ...rest) });
          isDead = true;
          die('died');
          return new Promise<never>(() => undefined);
        },
      }),
      reader,
      declarations: models.declarations,
      references: isAnnounced ? references : blind,
      typeOf: (key) => types.find((type) => type.key === key),
      clock,
      domain,
      uuid,
      suffix: () => 'aaaaa',
      lastEventTime: () => 0,
      rules: noRules,
      secrets: { keep: () => Promise.reject(new Error('nothing is withheld here')) },
    });
  }

  async fold(until: LogPosition): Promise<'reached'> {
    await this.#pause();
    const { models } = this;
    if (until <= models.position()) return 'reached';
    const events: RecordedEvent[] = [];
    const options = { after: models.position(), until, categories: foldedCategories };
    for await (const batch of this.#log.readAll(options)) events.push(...batch);
    // Another write of this node may have folded them already.
    const rest = events.filter(({ position }) => position > models.position());
    if (rest.length > 0) models.apply(rest);
    return 'reached';
  }
}

type NodeParts = {
  readonly log: MemoryLog;
  readonly slow: ReturnType<typeof drawnLog>;
  readonly clock: Clock;
  readonly pause: () => Promise<void>;
  readonly uuid: () => string;
  readonly isAnnounced: boolean;
  readonly late: Late[];
};

/** An append of a dead node. */
type Late = { hops: number; readonly append: () => Promise<unknown> };

/** Returns `whole` with some of its methods replaced. */
function proxied<T extends object>(whole: T, changes: Partial<T>): T {
  return new Proxy(whole, {
    get: (target, member) => {
      const value: unknown = Reflect.get(changes, member) ?? Reflect.get(target, member, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

class World {
  readonly #log = new MemoryLog();
  readonly #nodes: readonly Node[];
  readonly #counts: Counts;
  readonly #scheduler: fc.Scheduler;
  readonly #late: Late[] = [];
  #ids = 0;

  constructor(scheduler: fc.Scheduler, { isAnnounced, counts }: History) {
    [this.#scheduler, this.#counts] = [scheduler, counts];
    const wait = async (label: string): Promise<void> => {
      await scheduler.schedule(Promise.resolve(), label);
      await this.#lateArriveNow();
    };
    const clock = drawnClock(wait, { extraMs: 1_500 });
    const slow = drawnLog(this.#log, wait, async () => this.#check());
    const pause = async (): Promise<void> => wait('fold');
    const parts = { log: this.#log, slow, clock, pause, uuid: () => this.#id(), isAnnounced, late: this.#late };
    this.#nodes = pool.map((tables) => new Node(tables, parts));
  }

  async begin(): Promise<void> {
    let position = logStart;
    for (const type of types) {
      const declaration = type.declaration;
      if (declaration === undefined) throw new Error('a type for tests only');
      const event = encodeEvent(this.#id(), { type: 'TypeDeclared', ...declaration }, metadata);
      const appended = await this.#log.append(streamName(`type:${type.key}`), [event], 'absent');
      if (appended.ok) position = appended.position;
    }
    for (const { models } of this.#nodes) for (const type of types) await models.buildIndexes(type);
    await this.#foldAll(position);
    const first = (['found', 'make'] as const).flatMap((kind) =>
      [0, 1].map((index) => ({ kind, link: index, group: 0 })),
    );
    for (const [index, write] of first.entries()) {
      const [command, type] = commandOf({ ...write, group: index % 2 });
      const node = this.#nodes[0];
      if (node !== undefined) await this.#scheduler.waitFor(node.execute(type, command, writeContext));
    }
    await this.#foldAll(await this.#log.head());
  }

  async #foldAll(position: LogPosition): Promise<void> {
    await this.#scheduler.waitFor(Promise.all(this.#nodes.map(async (node) => node.fold(position))));
  }

  async run({ writes, dies, hops }: Plan, place: number): Promise<void> {
    const node = this.#nodes[place];
    if (node === undefined) throw new Error('no such node');
    for (const [index, write] of writes.entries()) {
      if (dies && index === writes.length - 1) node.diesAfter = hops;
      const [command, type] = commandOf(write);
      const writing = node.execute(type, command, writeContext).then(verdict);
      const outcome = await Promise.race([writing, node.death]);
      this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1;
      if (outcome === 'died') return;
    }
  }

  async #lateArriveNow(): Promise<void> {
    for (const late of this.#late) late.hops -= 1;
    const due = this.#late.filter(({ hops }) => hops < 0);
    const rest = this.#late.filter(({ hops }) => hops >= 0);
    this.#late.splice(0, this.#late.length, ...rest);
    for (const { append } of due) await append();
    if (due.length > 0) await this.#check();
  }

  async lateArrive(): Promise<void> {
    for (const { append } of this.#late.splice(0)) {
      await append();
      await this.#check();
    }
  }

  async #check(): Promise<void> {
    const named = new Map<string, readonly string[]>();
    const existing = new Set<string>();
    for await (const batch of this.#log.readAll({ after: logStart, categories: ['object'] })) {
      for (const recorded of batch) {
        const { event } = decodeEvent(recorded);
        const isLive = isObjectEvent(event) && event.type !== 'ObjectDeleted' && event.object !== undefined;
        const key = recorded.stream.slice('object:'.length);
        const object = isLive && event.object.metadata.deletionTimestamp === undefined ? event.object : undefined;
        if (object === undefined) existing.delete(key);
        else existing.add(key);
        const targets = object === undefined ? [] : namedTargets(links.references, object);
        if (key.startsWith(links.key))
          named.set(
            key,
            targets.map(({ target = '' }) => target),
          );
      }
    }
    for (const [link, targets] of named)
      for (const target of targets)
        if (!existing.has(target)) throw new Error(`${link} names a deleted group: ${target}`);
  }

  async close(): Promise<void> {
    await this.#log.close();
    for (const { models } of this.#nodes) models.clear();
  }

  #id(): string {
    this.#ids += 1;
    return idOf(String(this.#ids));
  }
}

function commandOf({ kind, link, group }: Write): readonly [Command, ResourceType] {
  const name = `l${String(link)}`;
  const spec = { group: `g${String(group)}` };
  switch (kind) {
    case 'found':
      return [create({ metadata: { name: `g${String(group)}` }, spec: {} }), groups];
    case 'delete':
      return [remove({}, `g${String(group)}`), groups];
    case 'make':
      return [create({ metadata: { name }, spec }), links];
    case 'unlink':
      return [remove({}, name), links];
    case 'free':
      return [merge({ spec: { group: null } }, { name }), links];
    default:
      return [merge({ spec }, { name }), links];
  }
}

const metadata = {
  actor: 'test',
  verb: 'declare',
  requestId: 'r',
  $correlationId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
};
