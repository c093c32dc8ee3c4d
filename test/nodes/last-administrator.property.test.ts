/**
 * Deletions in any order and on any node, owner references of an old log from super administrators and their bindings
 * to deleted objects, and reconcilers on two nodes that both believe to be the leader: a super administrator that can
 * log in remains, and those references delete no user.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { test, type Test } from 'tap';

import { ReconcileSlots } from '../../reconcilers/reconcile-slots.ts';
import { Bindings } from '../../reconcilers/platform/bindings.ts';
import { Collector } from '../../reconcilers/platform/collector.ts';
import { alwaysLeading } from '../../reconcilers/lease.ts';
import { OwnerReferences } from '../../reconcilers/platform/owner-references.ts';
import { typesWithoutOwners } from '../../src/auth/types/platform-types.ts';
import { bindingsFinalizer } from '../../src/auth/types/user-type.ts';
import type { Propagation } from '../../src/command/propagation.ts';
import { streamName, type LogPosition } from '../../src/log/log.ts';
import type { OwnerReference } from '../../src/resource/object/object.ts';
import { binding, user } from '../support/access.ts';
import { body, create, domain, merge, remove, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { appendReferences } from '../support/old-references.ts';
import { settled, shown } from '../support/writing.ts';
import { anybody, openDoors, typeOf, type Door, type Doors } from './support/doors.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 25);
const seed = process.env['PBT_SEED'];
const parameters = { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) };
const administrators = 3;
const plurals = ['users', 'rolebindings'] as const;
type Plural = (typeof plurals)[number] | 'widgets';

type Reconciler = OwnerReferences | Bindings | Collector;

function reconcilersOf(door: Door, { log, clock }: Doors, errors: unknown[]): readonly Reconciler[] {
  let ids = 0;
  const all = [typeOf('users'), typeOf('rolebindings'), widgets];
  const given = {
    changes: door.models,
    reader: door.models,
    bound: new ReconcileSlots(clock),
    leadership: alwaysLeading,
    clock,
    uuid: () => {
      ids += 1;
      return idOf(`reconciler ${String(ids)}`);
    },
    execute: async (type, command, context) => door.begin(command, context, type),
    types: (key) => all.find((type) => type.key === key),
    withoutOwners: typesWithoutOwners,
    serving: () => all,
    onError: (error) => {
      errors.push(error);
    },
  } satisfies Omit<ConstructorParameters<typeof OwnerReferences>[0], 'typeOfKind'>;
  return [
    new OwnerReferences({
      ...given,
      typeOfKind: (group, kind) => all.find((type) => type.group === group && type.kind === kind),
    }),
    new Collector(given),
    new Bindings({
      ...given,
      users: typeOf('users'),
      roleBindings: typeOf('rolebindings'),
      log,
      finalizer: bindingsFinalizer(domain),
    }),
  ];
}

class World {
  readonly errors: unknown[] = [];
  readonly doors: readonly Door[];
  readonly #given: Doors;
  readonly #reconcilers: readonly Reconciler[];

  constructor(given: Doors) {
    this.#given = given;
    this.doors = given.doors;
    this.#reconcilers = given.doors.flatMap((door) => reconcilersOf(door, given, this.errors));
  }

  async begin(): Promise<void> {
    await this.fold();
    for (const door of this.doors) door.pace = 'lazy';
    for (const reconciler of this.#reconcilers) reconciler.open();
  }

  /** Both nodes are caught up, and their reconcilers are idle. */
  async settle(): Promise<void> {
    for (let before: LogPosition | undefined; before !== this.#head();) {
      before = this.#head();
      await this.fold();
      await settled(Promise.all(this.#reconcilers.map(async (reconciler) => reconciler.idle())), this.#given.clock);
      for (let turn = 0; turn < 16; turn += 1) await nextTurn();
      this.#given.clock.advance(1);
      for (let turn = 0; turn < 16; turn += 1) await nextTurn();
    }
  }

  async fold(): Promise<void> {
    const head = this.#head();
    for (const door of this.doors) door.letTo(head);
    await this.#given.settle(
      Promise.all(this.doors.map(async (door) => door.models.reached(head, { timeoutMs: 1_000 }))),
    );
  }

  async wait(promise: Promise<unknown>): Promise<void> {
    await this.#given.settle(promise);
  }

  async stop(): Promise<void> {
    await settled(Promise.all(this.#reconcilers.map(async (reconciler) => reconciler.stop())), this.#given.clock);
  }

  #head(): LogPosition {
    return this.doors.map(({ models }) => models.position()).reduce((a, b) => (a > b ? a : b));
  }
}

const thing = fc.record({
  plural: fc.constantFrom<Plural>('users', 'rolebindings', 'widgets'),
  place: fc.nat(administrators - 1),
});
const owning = fc.record({
  of: fc.record({ plural: fc.constantFrom(...plurals), place: fc.nat(administrators - 1) }),
  by: thing,
});
const attempt = fc.record({
  of: thing,
  door: fc.nat(1),
  isDisabled: fc.boolean(),
  isSettled: fc.boolean(),
  propagation: fc.constantFrom<Propagation | undefined>('Background', 'Foreground', 'Orphan', undefined),
});

const nameOf = (plural: Plural, place: number): string =>
  `${plural === 'users' ? 'root' : plural === 'rolebindings' ? 'roots' : 'thing'}${String(place)}`;

async function openWorld(
  t: Test,
  ownings: readonly {
    readonly of: { readonly plural: Plural; readonly place: number };
    readonly by: { readonly plural: Plural; readonly place: number };
  }[],
): Promise<World> {
  const given = await openDoors(t);
  const [one] = given.doors as [Door, Door];
  const made = new Map<
    string,
    { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
  >();
  for (let index = 0; index < administrators; index += 1) {
    const name = (plural: Plural) => nameOf(plural, index);
    for (const [plural, object] of [
      ['users', user(name('users'), { password: 'correct horse' })],
      ['rolebindings', binding(name('rolebindings'), 'super-role', name('users'))],
      ['widgets', body({ metadata: { name: name('widgets') }, spec: { title: 'Thing' } })],
    ] as const) {
      const {
        apiVersion,
        kind,
        metadata: { uid },
      } = shown(await one.write(create(object), {}, typeOf(plural)));
      made.set(name(plural), { apiVersion, kind, name: name(plural), uid });
    }
  }
  for (const name of new Set(ownings.map(({ of }) => nameOf(of.plural, of.place)))) {
    const owners = ownings
      .filter(({ of }) => nameOf(of.plural, of.place) === name)
      .map(({ by }): OwnerReference => ({ ...made.get(nameOf(by.plural, by.place))!, blockOwnerDeletion: true }));
    await appendReferences(
      given.log,
      streamName(`object:${name.startsWith('roots') ? 'rolebindings' : 'users'}/${name}`),
      owners,
    );
  }
  return new World(given);
}

async function attempted(
  world: World,
  {
    of: { plural, place },
    door,
    isDisabled,
    propagation,
  }: {
    readonly of: { readonly plural: Plural; readonly place: number };
    readonly door: number;
    readonly isDisabled: boolean;
    readonly propagation: Propagation | undefined;
  },
): Promise<unknown> {
  const name = nameOf(plural, place);
  const command =
    plural === 'users' && isDisabled ? merge({ spec: { disabled: true } }, { name }) : remove({}, name, propagation);
  return world.doors[door]!.begin(command, anybody, typeOf(plural));
}

/** Users that nobody deletes. */
function untouched(
  attempts: readonly { readonly of: { readonly plural: Plural; readonly place: number } }[],
): readonly string[] {
  const removed = new Set(attempts.filter(({ of }) => of.plural === 'users').map(({ of }) => of.place));
  return [0, 1, 2].filter((place) => !removed.has(place)).map((place) => nameOf('users', place));
}

test('no order of deletions on any node removes the last super administrator', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(owning, { maxLength: 8 }),
      fc.array(attempt, { minLength: 1, maxLength: 10 }),
      async (ownings, attempts) => {
        const ends: (() => unknown)[] = [];
        const world = await openWorld(
          {
            teardown: (end: () => unknown) => {
              ends.push(end);
            },
          } as never,
          ownings,
        );
        try {
          await world.begin();
          const begun: Promise<unknown>[] = [];
          for (const each of attempts) {
            begun.push(attempted(world, each));
            if (each.isSettled) await world.settle();
          }
          await world.wait(Promise.all(begun));
          await world.settle();
          for (const { permissions } of world.doors)
            if ([...permissions.holders('super-role')].length === 0) throw new Error('nobody is super administrator');
          for (const name of untouched(attempts))
            if (world.doors[0]?.permissions.user(name) === undefined)
              throw new Error(`${name} went without being asked to`);
          if (world.errors.length > 0) throw new Error(world.errors.map(String).join(', '));
        } finally {
          await world.stop();
          for (const end of ends) await end();
        }
      },
    ),
    parameters,
  );
  t.pass(`${String(runs)} runs`);
});
