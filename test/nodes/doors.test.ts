import { test } from 'tap';

import type { Command, WriteContext, WriteOutcome } from '../../src/command/command.ts';
import { decodeEvent, isObjectEvent } from '../../src/log/event-codec.ts';
import { logStart, type RecordedEvent } from '../../src/log/log.ts';
import { binding, everythingRules, role, rule, user } from '../support/access.ts';
import { body, collect, create, merge, put, remove } from '../support/given.ts';
import type { MemoryLog } from '../support/memory/memory-log.ts';
import { shown, tally, verdict } from '../support/writing.ts';
import { anybody, openDoors, typeOf, type Door } from './support/doors.ts';

/** Real write doors and read models of several nodes over one log. A lazy node folds nothing before it has to. */
const serial = (name: string, value: string | undefined) =>
  body({ metadata: { name }, spec: { title: name, ...(value === undefined ? {} : { serial: value }) } });
const label = (place: number): Command => merge({ metadata: { labels: { [`l${String(place)}`]: 'x' } } });

async function lazily(doors: readonly Door[], of: () => Promise<void>): Promise<void> {
  for (const door of doors) door.pace = 'lazy';
  await of();
}

async function recorded(log: MemoryLog): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of log.readAll({ after: logStart, categories: ['object'] })) events.push(...batch);
  return events;
}

test('a client that alternates between nodes sees one service, for any delay between them', async (t) => {
  const { doors } = await openDoors(t);
  const [one, two] = doors as [Door, Door];
  await lazily(doors, async () => {
    const first = shown(await one.write(create(body())));
    t.equal(two.object(), undefined, 'the other has folded nothing yet');
    t.equal(verdict(await two.write(create(body()))), 'already-exists');
    t.match(shown(await two.write(merge({ spec: { title: 'Two' } }))), {
      metadata: { uid: first.metadata.uid, version: 1 },
    });
    t.equal(two.object()?.metadata.version, 1, 'it reads its own write');
    t.equal(one.object()?.metadata.version, 0);
    t.match(
      await one.write(merge({ spec: { title: 'Two' } })),
      { ok: true, appended: false, version: 1 },
      'what changes nothing by now',
    );
    t.equal(verdict(await one.write(put(body({ metadata: { version: 1 } })))), 'ok');
    t.equal(verdict(await two.write(put(body({ metadata: { version: 1 } })))), 'stale-version');
    t.equal(
      verdict(await two.write(put(body(), { preconditions: { ifMatch: [2] } }))),
      'ok',
      'a tag of the other node',
    );
    t.equal(verdict(await one.write(merge({}, { preconditions: { ifMatch: [2] } }))), 'ok', 'nothing came of that one');
    t.equal(verdict(await one.write(remove())), 'ok');
    t.equal(verdict(await two.write(remove())), 'not-found', 'it is gone already');
    t.equal(verdict(await one.write(collect(first.metadata.uid))), 'not-found');
    t.equal(verdict(await one.write(merge({}))), 'not-found');
    const second = shown(await one.write(create(body())));
    t.not(second.metadata.uid, first.metadata.uid);
    t.equal(verdict(await two.write(remove({ uid: first.metadata.uid }))), 'stale-version');
  });
});

test('a dry run and a refusal use the state of the log', async (t) => {
  const { doors } = await openDoors(t);
  const [one, two] = doors as [Door, Door];
  await lazily([two], async () => {
    await one.write(create(serial('a', 's')));
    t.equal(verdict(await two.write(create(serial('a', 's2')), { dryRun: true })), 'already-exists');
    await one.write(merge({ spec: { title: 'Two' } }, { name: 'a' }));
    t.match(shown(await two.write(merge({ metadata: { labels: { l: 'x' } } }, { name: 'a' }), { dryRun: true })), {
      metadata: { version: 2 },
      spec: { title: 'Two' },
    });
    t.equal(verdict(await two.write(create(serial('b', 's')), { dryRun: true })), 'unique-value-taken');
  });
});

test('a unique value has one object on all nodes: created, moved, swapped, deleted and created again', async (t) => {
  const { doors } = await openDoors(t);
  const [one, two] = doors as [Door, Door];
  await lazily(doors, async () => {
    await one.write(create(serial('a', 's1')));
    t.equal(verdict(await two.write(create(serial('b', 's1')))), 'unique-value-taken');
    await two.write(create(serial('b', 's2')));
    t.equal(verdict(await one.write(merge({ spec: { serial: 's2' } }, { name: 'a' }))), 'unique-value-taken');
    t.equal(verdict(await two.write(put(serial('a', 's3'), { name: 'a' }))), 'ok', 'moved by the other node');
    t.equal(
      verdict(await one.write(merge({ spec: { serial: 's1' } }, { name: 'b' }))),
      'ok',
      'the value that it moved from is free',
    );
    t.equal(verdict(await two.write(merge({ spec: { serial: 's2' } }, { name: 'a' }))), 'ok', 'the two are swapped');
    t.equal(
      verdict(await one.write(merge({ metadata: { labels: { l: 'x' } } }, { name: 'a' }))),
      'ok',
      'a node that knows the old value does not report it as taken',
    );
    t.equal(verdict(await one.write(merge({ metadata: { labels: { m: 'x' } } }, { name: 'a' }))), 'ok');
    await one.write(remove({}, 'a'));
    t.equal(verdict(await two.write(create(serial('c', 's2')))), 'ok', 'free with the answer to the deletion');
    t.equal(verdict(await two.write(create(serial('a', 's2')))), 'unique-value-taken');
    t.equal(verdict(await two.write(create(serial('a', 's1')))), 'unique-value-taken');
    t.equal(verdict(await one.write(create(serial('a', 's3')))), 'ok');
  });
});

test('of many creates with one value on several nodes exactly one wins', async (t) => {
  const { doors, settle, log } = await openDoors(t, 3);
  await lazily(doors, async () => {
    const outcomes = await settle(
      Promise.all(
        Array.from({ length: 24 }, async (_, index) =>
          doors[index % 3]!.begin(create(serial(`w${String(index)}`, 's'))),
        ),
      ),
    );
    t.strictSame(tally(outcomes), { ok: 1, 'unique-value-taken': 23 });
  });
  t.equal(
    (await recorded(log)).filter((event) => {
      const { event: made } = decodeEvent(event);
      return isObjectEvent(made) && made.values.length > 0;
    }).length,
    1,
  );
});

test('of many creates of one name on several nodes exactly one wins', async (t) => {
  const { doors, settle } = await openDoors(t, 3);
  const outcomes = await settle(
    Promise.all(Array.from({ length: 24 }, async (_, index) => doors[index % 3]!.begin(create(body())))),
  );
  t.strictSame(tally(outcomes), { ok: 1, 'already-exists': 23 });
});

for (const pace of ['eager', 'lazy'] as const) {
  test(`64 writers of one object on two ${pace} nodes: all succeed, none is lost`, async (t) => {
    const { doors, settle, log } = await openDoors(t);
    await doors[0]!.write(create(body()));
    for (const door of doors) door.pace = pace;
    const outcomes: readonly WriteOutcome[] = await settle(
      Promise.all(Array.from({ length: 64 }, async (_, index) => doors[index % 2]!.begin(label(index)))),
    );
    t.strictSame(tally(outcomes), { ok: 64 });
    t.strictSame(
      outcomes.map((outcome) => shown(outcome).metadata.version).sort((a, b) => a - b),
      outcomes.map((_, index) => index + 1),
    );
    const last = decodeEvent((await recorded(log)).at(-1)!).event;
    t.equal(isObjectEvent(last) ? Object.keys(last.object?.metadata.labels ?? {}).length : 0, 64);
  });
}

test('compare-and-swap on two nodes has one winner in each round', async (t) => {
  const { doors, settle } = await openDoors(t);
  await doors[0]!.write(create(body()));
  await lazily(doors, async () => {
    for (let version = 0; version < 8; version += 1) {
      const outcomes = await settle(
        Promise.all(
          Array.from({ length: 8 }, async (_, index) =>
            doors[index % 2]!.begin(
              put(body({ spec: { title: `T${String(version)}${String(index)}` } }), {
                preconditions: { ifMatch: [version] },
              }),
            ),
          ),
        ),
      );
      t.strictSame(tally(outcomes), { ok: 1, 'precondition-failed': 7 });
    }
  });
});

test('of super administrators removed on nodes with stale folds one stays', async (t) => {
  const password = { password: 'correct horse' };
  for (const nodes of [2, 3, 4]) {
    const { doors, settle } = await openDoors(t, nodes);
    const names = Array.from({ length: nodes }, (_, index) => `root${String(index)}`);
    for (const name of names) {
      shown(await doors[0]!.write(create(user(name, password)), {}, typeOf('users')));
      shown(await doors[0]!.write(create(binding(name, 'super-role', name)), {}, typeOf('rolebindings')));
    }
    await settle(
      Promise.all(doors.map(async (door) => door.models.reached(doors[0]!.models.position(), { timeoutMs: 1_000 }))),
    );
    await lazily(doors, async () => {
      const outcomes = await settle(
        Promise.all(
          names.map(async (name, index) => {
            const [command, plural] = (
              [
                [remove({}, name), 'rolebindings'],
                [remove({}, name), 'users'],
                [merge({ spec: { disabled: true } }, { name }), 'users'],
                [put(binding(name, 'super-role', 'nobody'), { name }), 'rolebindings'],
              ] as const
            )[index % 4]!;
            return doors[index]!.begin(command, anybody, typeOf(plural));
          }),
        ),
      );
      t.strictSame(tally(outcomes), { ok: nodes - 1, forbidden: 1 }, `${String(nodes)} nodes`);
    });
    const head = doors.map(({ models }) => models.position()).reduce((a, b) => (a > b ? a : b));
    for (const door of doors) door.letTo(head);
    await settle(Promise.all(doors.map(async (door) => door.models.reached(head, { timeoutMs: 1_000 }))));
    t.strictSame(
      doors.map(({ permissions }) => [...permissions.holders('super-role')].length),
      doors.map(() => 1),
    );
  }
});

test('a super administrator created on one node permits the removal of another one on the next node', async (t) => {
  const { doors } = await openDoors(t);
  const [one, two] = doors as [Door, Door];
  const [users, bindings] = [typeOf('users'), typeOf('rolebindings')];
  await one.write(create(user('root', { password: 'correct horse' })), {}, users);
  await one.write(create(binding('roots', 'super-role', 'root')), {}, bindings);
  await lazily(doors, async () => {
    t.equal(verdict(await two.write(remove({}, 'roots'), anybody, bindings)), 'forbidden');
    await one.write(create(user('mary', { password: 'correct horse' })), {}, users);
    await one.write(create(binding('more', 'super-role', 'mary')), {}, bindings);
    t.equal(
      verdict(await two.write(remove({}, 'roots'), anybody, bindings)),
      'ok',
      'a refusal, too, is of what the log holds',
    );
    t.equal(verdict(await one.write(remove({}, 'mary'), anybody, users)), 'forbidden');
  });
});

test('a grant uses the rights and roles of the log, also on a node that has not folded them', async (t) => {
  const { doors } = await openDoors(t);
  const [one, two] = doors as [Door, Door];
  const [users, roles, bindings] = [typeOf('users'), typeOf('roles'), typeOf('rolebindings')];
  const password = { password: 'correct horse' };
  shown(await one.write(create(user('joe', password)), {}, users));
  const { uid } = shown(await one.write(create(user('mary', password)), {}, users)).metadata;
  const asMary: Partial<WriteContext> = {
    subject: { kind: 'user', name: 'mary', credential: { kind: 'password', uid } },
  };
  shown(await one.write(create(role('small', [rule('get', 'widgets')])), {}, roles));
  shown(await one.write(create(binding('marys', 'small', 'mary')), {}, bindings));
  shown(await one.write(create(role('other', [rule('get', 'widgets')])), {}, roles));
  await two.models.reached(one.models.position(), { timeoutMs: 1_000 });
  await lazily([two], async () => {
    t.equal(verdict(await two.write(create(binding('a', 'other', 'joe')), asMary, bindings)), 'ok');
    shown(await one.write(put(role('other', everythingRules), { name: 'other' }), {}, roles));
    t.equal(
      verdict(await two.write(create(binding('b', 'other', 'mary')), asMary, bindings)),
      'forbidden',
      'the role grants more than mary has, by a write of the other node',
    );
    shown(await one.write(create(binding('joes', 'super-role', 'joe')), {}, bindings));
    t.equal(
      verdict(await two.write(merge({ spec: { disabled: true } }, { name: 'joe' }), asMary, users)),
      'forbidden',
      'joe has more rights than mary, by a write of the other node',
    );
    shown(await one.write(remove({}, 'marys'), {}, bindings));
    t.equal(
      verdict(await two.write(create(binding('c', 'small', 'joe')), asMary, bindings)),
      'forbidden',
      'mary has lost the role that she grants, by a write of the other node',
    );
  });
});
