import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import type { Leadership } from '../../../src/read/leadership.ts';
import { Declarer } from '../../../reconcilers/platform/declarer.ts';
import { Heartbeat } from '../../../reconcilers/platform/heartbeat.ts';
import type { UniquenessDependencies } from '../../../reconcilers/platform/uniqueness/uniqueness-dependencies.ts';
import { Uniqueness } from '../../../reconcilers/platform/uniqueness/uniqueness.ts';
import { claimantOf } from '../../../src/write/unique/unique-claims.ts';
import { eventSchema, type DomainEvent, type EventMetadata } from '../../../src/command/event.ts';
import { levelRead } from '../../../src/command/level.ts';
import { decodeEvent, encodeEvent } from '../../../src/log/event-codec.ts';
import { logStart, streamName, type EventLog, type LogPosition, type RecordedEvent } from '../../../src/log/log.ts';
import { isEnforced } from '../../../src/read/declarations.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { openDoors, type Door, type Doors, type Through } from '../../nodes/support/doors.ts';
import { body, create, valuesOf, widget, widgets, widgetType } from '../../support/given.ts';
import { idOf } from '../../support/id-of.ts';
import { shown } from '../../support/writing.ts';
import { nodeAbout } from '../../support/memory/node-about.ts';

export const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const level = { level: () => levelRead, subscribe: () => () => undefined };

/** Versions of the plugin: in `plain` the serial is not unique. */
export const plain = widgetType(
  { indexes: [{ name: 'spec.serial' }] },
  { version: '1.0.0', source: 'folder', code: 'plain' },
);
export const unique = widgetType({}, { version: '1.1.0', source: 'folder', code: 'unique' });
/** The same by a function, of the same values. */
export const computed = widgetType(
  {
    indexes: [
      {
        name: 'spec.serial',
        unique: true,
        indexFunc: (object: { readonly spec: { readonly serial?: string } }) => object.spec.serial,
      },
    ],
  },
  { version: '1.2.0', source: 'folder', code: 'computed' },
);

class Lead implements Leadership {
  readonly #listeners = new Set<(leads: boolean) => void>();
  #leads = false;

  isLeader(): boolean {
    return this.#leads;
  }

  subscribe(listener: (leads: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  lead(leads: boolean): void {
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }
}

/** A node with one type, what declares it, what enforces its indexes, and its heartbeat. */
export class UniqueNode {
  type: ResourceType;
  readonly door: Door;
  readonly leadership = new Lead();
  readonly declarer: Declarer;
  readonly heartbeat: Heartbeat;
  readonly uniqueness: Uniqueness;
  /** Reported steps, in order. */
  readonly reports: string[] = [];
  readonly errors: unknown[] = [];

  constructor(
    { doors, log, clock }: Doors,
    place: number,
    given: {
      readonly type: ResourceType;
      readonly isAlone: boolean;
      readonly through?: Through | undefined;
      readonly says?: boolean;
    },
  ) {
    const { isAlone, through = (each: EventLog) => each } = given;
    this.type = given.type;
    const door = (this.door = doors[place]!);
    const { models, unsettled } = door;
    let ids = 0;
    const uuid = (): string => {
      ids += 1;
      return idOf(`uniqueness ${String(place)} ${String(ids)}`);
    };
    const shared = {
      clock,
      uuid,
      metadata: () => metadata,
      log: through(log),
      declarations: models.declarations,
      leadership: this.leadership,
      isAlone,
      served: () => [this.type],
    };
    this.declarer = new Declarer({
      ...shared,
      reader: models,
      level,
      typeOf: () => this.type,
      onOther: () => undefined,
      onError: (error) => {
        this.errors.push(error);
      },
    });
    this.heartbeat = new Heartbeat({
      ...shared,
      node: `n${String(place)}`,
      reads: levelRead,
      drained: () => unsettled.drained(),
      describe: () => nodeAbout,
    });
    const dependencies: UniquenessDependencies = {
      ...shared,
      reader: models,
      rows: models.older,
      changes: models,
      execute: door.execute,
      node: `n${String(place)}`,
      claimantOf: async (claimed) => claimantOf(shared.log, claimed),
      drain: async () => {
        await unsettled.fenceStale(shared);
        return unsettled.drained();
      },
      onStep: () => {
        const [step] = this.uniqueness.steps();
        const line =
          step === undefined
            ? 'over'
            : step.step +
              (step.duplicateCount === 0
                ? ''
                : ` ${step.duplicates.map(({ name, index, holder }) => `${name} ${index} ${holder}`).join(', ')}`);
        if (this.reports.at(-1) !== line) this.reports.push(line);
      },
      onEnforced: (_type, indexes) => {
        this.reports.push(`enforced ${indexes.join()}`);
      },
      onDuplicates: () => undefined,
      onError: (error) => {
        this.errors.push(error);
      },
    };
    this.uniqueness = new Uniqueness(dependencies);
    this.uniqueness.open();
  }

  lead(leads = true): void {
    this.leadership.lead(leads);
  }

  get isEnforced(): boolean {
    const standing = this.door.models.declarations.declared(widgets.key);
    return standing !== undefined && isEnforced(standing, 'spec.serial');
  }
}

export type StageOptions = {
  readonly types: readonly ResourceType[];
  readonly through?: readonly (Through | undefined)[];
};

export class UniqueStage {
  readonly doors: Doors;
  readonly nodes: readonly UniqueNode[];

  private constructor(doors: Doors, nodes: readonly UniqueNode[]) {
    this.doors = doors;
    this.nodes = nodes;
  }

  /** One node is alone. */
  static async open(t: Test, { types, through = [] }: StageOptions): Promise<UniqueStage> {
    const doors = await openDoors(
      t,
      types.length,
      through.map((each) => each ?? ((log) => log)),
    );
    const nodes = types.map(
      (type, index) => new UniqueNode(doors, index, { type, isAlone: types.length === 1, through: through[index] }),
    );
    const stage = new UniqueStage(doors, nodes);
    t.teardown(async () => {
      for (const { declarer } of nodes) declarer.stop();
      await stage.during(
        Promise.all(nodes.flatMap(({ uniqueness, heartbeat }) => [uniqueness.stop(), heartbeat.stop()])),
      );
    });
    return stage;
  }

  get one(): UniqueNode {
    return this.nodes[0]!;
  }

  async during<T>(promise: Promise<T>): Promise<T> {
    return this.doors.settle(promise);
  }

  /** Lets so much time pass, and everything happen that can. */
  async pass(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.doors.clock.advance(Math.min(stepMs, ms - passed));
      for (let turn = 0; turn < 24; turn += 1) await nextTurn();
    }
  }

  /** Until nothing more is appended to anything but leases. */
  async rest(): Promise<void> {
    for (let still = 0, before = -1; still < 3;) {
      await this.pass(100, 50);
      const events = (await this.events()).length;
      still = events === before ? still + 1 : 0;
      before = events;
    }
  }

  async declare(type: ResourceType, node = this.one): Promise<void> {
    node.type = type;
    await this.during(node.declarer.declare([type]));
    node.uniqueness.scan();
  }

  async write(name: string, serial: string, node = this.one): Promise<void> {
    shown(await node.door.write(create(body({ metadata: { name }, spec: { title: name, serial } })), {}, node.type));
  }

  /** All events but those of leases. */
  async events(): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const batch of this.doors.log.readAll({ after: logStart })) events.push(...batch);
    return events.filter(({ stream }) => !stream.startsWith('lease:'));
  }

  async typesOf(stream: string): Promise<readonly string[]> {
    return (await this.events()).filter((event) => event.stream === stream).map(({ type }) => type);
  }

  async history(name: string): Promise<readonly string[]> {
    return this.typesOf(`object:${widgets.key}/${name}`);
  }

  async enforcements(): Promise<readonly unknown[]> {
    return (await this.events())
      .map((recorded) => decodeEvent(recorded).event)
      .filter(({ type }) => type === 'UniqueEnforced');
  }

  async claimant(serial: string): Promise<string | undefined> {
    const [value] = valuesOf(widget({ spec: { title: 'One', serial } }));
    const stream = await this.during(claimantOf(this.doors.log, { type: widgets.key, value: value! }));
    return stream?.slice(stream.lastIndexOf('/') + 1);
  }

  /** What a node that is dead sent by an older declaration, or by none. */
  async lateCreate(name: string, serial: string, declared?: number): Promise<LogPosition> {
    const object = widget({ metadata: { name }, spec: { title: name, serial } });
    const event: DomainEvent = { type: 'ObjectCreated', object, values: valuesOf(object) };
    const proposed = encodeEvent(
      idOf(`late ${name}`),
      event,
      declared === undefined ? metadata : { ...metadata, declared },
    );
    const appended = await this.during(
      this.doors.log.append(streamName(`object:${widgets.key}/${name}`), [proposed], 'absent'),
    );
    if (!appended.ok) throw new Error('it did not land');
    for (const { door } of this.nodes) await this.during(door.models.reached(appended.position, { timeoutMs: 1_000 }));
    return appended.position;
  }
}
