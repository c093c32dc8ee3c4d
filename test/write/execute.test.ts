import { test } from 'tap';

import { generateNameAttemptsMax, objectBytesMax } from '../../src/limits/objects.ts';
import { writeAttemptsMax, writesWaitingPerObjectMax, writeTurnWaitMs } from '../../src/limits/writes.ts';
import { confirmExists } from '../../src/write/confirm-exists.ts';
import { claimStream } from '../../src/write/unique/unique-claims.ts';
import type { Command, WriteOutcome } from '../../src/command/command.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { decodeMetadata, encodeEvent } from '../../src/log/event-codec.ts';
import { streamRevision } from '../../src/log/log.ts';
import {
  body,
  collect,
  create,
  created,
  jsonPatch,
  merge,
  put,
  remove,
  updated,
  valuesOf,
  widget,
  widgets,
  widgetType,
} from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { altered, shown, streamOf, tally, verdict, writeContext, Writing } from '../support/writing.ts';

const metadata: EventMetadata = {
  actor: 'another',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

function many<T>(count: number, make: (place: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const serial = (name: string, value: string) => body({ metadata: { name }, spec: { title: name, serial: value } });

test('a write is answered with the appended state, and can be read at once', async (t) => {
  const writing = await Writing.open(t);
  const outcome = await writing.write(create(body({ spec: { title: 'One', serial: 's' } })));
  const answer = shown(outcome);
  const [event] = await writing.recorded('w1');
  t.equal(answer.metadata.resourceVersion, event?.position.toString());
  t.match(outcome, { ok: true, version: 0, name: 'w1', appended: true, warnings: [] });
  t.strictSame(writing.object(), answer);
  const { resourceVersion: _position, ...stored } = answer.metadata;
  t.strictSame(await writing.events(), [created({ ...answer, metadata: stored })]);
});

test('a write that changes nothing is answered with the stored object and appends nothing', async (t) => {
  const writing = await Writing.open(t);
  const first = shown(await writing.write(create(body())));
  for (const command of [put(body()), merge({}), jsonPatch([])]) {
    const outcome = await writing.write(command);
    t.match(outcome, { ok: true, appended: false, version: 0 });
    t.strictSame(shown(outcome), first);
  }
  t.equal((await writing.recorded()).length, 1);
});

test('of many PUTs with one version exactly one wins', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  const outcomes = await writing.race(
    many(20, (place) => put(body({ metadata: { version: 0 }, spec: { title: `T${String(place)}` } }))),
  );
  t.strictSame(tally(outcomes), { ok: 1, 'stale-version': 19 });
  const winner = outcomes.findIndex(({ ok }) => ok);
  t.match(writing.object(), { metadata: { version: 1, generation: 2 }, spec: { title: `T${String(winner)}` } });
});

const addLabel = (place: number): Command => merge({ metadata: { labels: { [`l${String(place)}`]: 'x' } } });

test('patches without a precondition all succeed, as many as there are attempts', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  const outcomes = await writing.race(many(writeAttemptsMax, addLabel));
  t.strictSame(tally(outcomes), { ok: writeAttemptsMax });
  t.equal(Object.keys(writing.object()?.metadata.labels ?? {}).length, writeAttemptsMax);
  t.equal(writing.object()?.metadata.version, writeAttemptsMax);
});

test('far more racing patches than attempts all succeed, in the order of their arrival', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  const outcomes = await writing.race(many(4 * writeAttemptsMax, addLabel));
  t.strictSame(
    outcomes.map((outcome) => shown(outcome).metadata.version),
    outcomes.map((_, index) => index + 1),
  );
  t.equal(Object.keys(writing.object()?.metadata.labels ?? {}).length, 4 * writeAttemptsMax);
});

test('the writes that wait for one object are bounded', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  const outcomes = await writing.race(many(writesWaitingPerObjectMax + 2, () => merge({})));
  t.strictSame(tally(outcomes), { ok: writesWaitingPerObjectMax + 1, 'too-many-requests': 1 });
  t.match(outcomes.at(-1), { rejection: { detail: 'too many writes of this object are queued' } });
});

test('a write that has waited too long for earlier ones proceeds without them', async (t) => {
  let isStuck = true;
  const stuck: (() => void)[] = [];
  const writing = await Writing.open(t, {
    through: (log) =>
      altered(log, {
        append: async (...call) => {
          if (isStuck && call[2] === 0)
            await new Promise<void>((go) => {
              isStuck = false;
              stuck.push(go);
            });
          return log.append(...call);
        },
      }),
  });
  await writing.write(create(body()));
  const first = writing.race([addLabel(1)]);
  const before = writing.clock.monotonic();
  t.equal(verdict(await writing.write(addLabel(2))), 'ok');
  t.ok(writing.clock.monotonic() - before >= writeTurnWaitMs);
  for (const go of stuck) go();
  t.match(shown((await first)[0]!), { metadata: { version: 2, labels: { l1: 'x', l2: 'x' } } });
});

test('a patch that sets a version is not retried on a later one', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  const outcomes = await writing.race(
    many(8, (place) => merge({ metadata: { version: 0, labels: { [`l${String(place)}`]: 'x' } } })),
  );
  t.strictSame(tally(outcomes), { ok: 1, 'stale-version': 7 });
});

test('of many creates of one name exactly one wins', async (t) => {
  const writing = await Writing.open(t);
  const outcomes = await writing.race(many(20, (place) => create(body({ spec: { title: `T${String(place)}` } }))));
  t.strictSame(tally(outcomes), { ok: 1, 'already-exists': 19 });
  t.strictSame(writing.object(), shown(outcomes.find(({ ok }) => ok)!));
});

test('racing deletes of an object: one removes it; with a finalizer all succeed, and mark it once', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  t.strictSame(tally(await writing.race(many(10, () => remove()))), { ok: 1, 'not-found': 9 });
  t.equal((await writing.recorded()).length, 3);
  await writing.write(create(body({ metadata: { finalizers: ['f'] } })));
  t.strictSame(tally(await writing.race(many(10, () => remove()))), { ok: 10 });
  t.equal(writing.object()?.metadata.version, 4);
});

test('of many creates with one unique value exactly one wins, and the others learn its holder', async (t) => {
  const writing = await Writing.open(t);
  const outcomes = await writing.race(many(12, (place) => create(serial(`w${String(place)}`, 's'))));
  t.strictSame(tally(outcomes), { ok: 1, 'unique-value-taken': 11 });
  const winner = outcomes.findIndex(({ ok }) => ok);
  const loser = outcomes.find(({ ok }) => !ok);
  t.match(loser, {
    rejection: {
      detail: `spec.serial must be unique among widgets: "w${String(winner)}" has this value`,
      violations: [{ pointer: '/spec/serial' }],
    },
  });
  t.strictSame(
    many(12, (place) => writing.object(`w${String(place)}`) !== undefined),
    many(12, (place) => place === winner),
  );
});

test('a unique value stays held while its holder is marked, and is free once it is removed', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(serial('a', 's')));
  await writing.write(merge({ metadata: { finalizers: ['f'] } }, { name: 'a' }));
  await writing.write(remove({}, 'a'));
  t.equal(verdict(await writing.write(create(serial('b', 's')))), 'unique-value-taken');
  t.equal(verdict(await writing.write(merge({ metadata: { finalizers: null } }, { name: 'a' }))), 'ok');
  t.equal(verdict(await writing.write(create(serial('b', 's')))), 'ok');
  t.equal(verdict(await writing.write(create(serial('a', 's')))), 'unique-value-taken');
});

test('a unique value is free once its holder moves to another one, which is taken', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(serial('a', 's1')));
  t.equal(verdict(await writing.write(put(serial('a', 's2'), { name: 'a' }))), 'ok');
  t.equal(verdict(await writing.write(create(serial('b', 's2')))), 'unique-value-taken');
  t.equal(verdict(await writing.write(create(serial('b', 's1')))), 'ok');
  t.equal(verdict(await writing.write(put(serial('a', 's1'), { name: 'a' }))), 'unique-value-taken');
  t.match(writing.object('a'), { spec: { serial: 's2' } });
});

test("a value released and claimed again is its holder's", async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(serial('a', 's')));
  t.equal(verdict(await writing.write(merge({ spec: { serial: null } }, { name: 'a' }))), 'ok');
  t.equal(verdict(await writing.write(merge({ spec: { serial: 's' } }, { name: 'a' }))), 'ok');
  t.equal(verdict(await writing.write(create(serial('b', 's')))), 'unique-value-taken');
});

test('of many objects that move to one value exactly one gets it', async (t) => {
  const writing = await Writing.open(t);
  await writing.race(many(8, (place) => create(serial(`w${String(place)}`, `s${String(place)}`))));
  const outcomes = await writing.race(
    many(8, (place) => merge({ spec: { serial: 'one' } }, { name: `w${String(place)}` })),
  );
  t.strictSame(tally(outcomes), { ok: 1, 'unique-value-taken': 7 });
  const holders = many(8, (place) => writing.object(`w${String(place)}`)).filter((object) =>
    JSON.stringify(object?.['spec']).includes('"one"'),
  );
  t.equal(holders.length, 1);
});

test('objects without the value do not collide', async (t) => {
  const writing = await Writing.open(t);
  t.strictSame(
    tally(await writing.race(many(5, (place) => create(body({ metadata: { name: `w${String(place)}` } }))))),
    { ok: 5 },
  );
});

const notUnique = widgetType({ indexes: [{ name: 'spec.serial' }] });

test('a value stored before its index was unique is refused to others, and its object keeps it', async (t) => {
  const writing = await Writing.open(t, { type: notUnique });
  for (const [name, value] of [
    ['old', 's'],
    ['other', 'o'],
    ['gone', 'g'],
  ] as const)
    await writing.write(create(serial(name, value)));
  await writing.declare(widgets);
  const before = (await writing.recorded()).length;
  for (const dryRun of [true, false]) {
    const refused = await writing.write(create(serial('new', 's')), { dryRun });
    t.match(refused, {
      ok: false,
      rejection: {
        reason: 'unique-value-taken',
        detail: 'spec.serial must be unique among widgets: "old" has this value',
        violations: [{ pointer: '/spec/serial' }],
      },
    });
    t.equal(
      verdict(await writing.write(merge({ spec: { serial: 's' } }, { name: 'other' }), { dryRun })),
      'unique-value-taken',
    );
  }
  t.equal((await writing.recorded()).length, before, 'refused before anything is claimed');
  t.equal(verdict(await writing.write(merge({ spec: { title: 'Two' } }, { name: 'old' }))), 'ok');
  t.equal(verdict(await writing.write(create(serial('new', 's')))), 'unique-value-taken', 'by its claim');
  await writing.write(remove({}, 'gone'));
  t.equal(verdict(await writing.write(create(serial('new', 'g')))), 'ok');
});

test('of objects with one value the first one written keeps it, the others can change to another value', async (t) => {
  for (const [first, second] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const writing = await Writing.open(t, { type: notUnique });
    for (const name of [first, second]) await writing.write(create(serial(name, 's')));
    await writing.declare(widgets);
    t.equal(verdict(await writing.write(merge({ spec: { title: 'Two' } }, { name: first }))), 'ok');
    t.equal(verdict(await writing.write(merge({ spec: { title: 'Two' } }, { name: second }))), 'unique-value-taken');
    t.equal(verdict(await writing.write(merge({ spec: { serial: 's2' } }, { name: second }))), 'ok');
  }
});

test('a holder keeps its value while its index is not unique, through any writes', async (t) => {
  const writing = await Writing.open(t);
  for (const [name, value] of [
    ['a', 's'],
    ['moving', 'm'],
    ['gone', 'g'],
  ] as const)
    await writing.write(create(serial(name, value)));
  await writing.declare(notUnique);
  t.equal(verdict(await writing.write(merge({ spec: { title: 'Two' } }, { name: 'a' }))), 'ok');
  t.equal(verdict(await writing.write(merge({ spec: { serial: 'm2' } }, { name: 'moving' }))), 'ok');
  t.equal(verdict(await writing.write(remove({}, 'gone'))), 'ok');
  t.match(await writing.events('a'), [{ values: [{ index: 'spec.serial' }] }, { values: [{ index: 'spec.serial' }] }]);
  await writing.declare(widgets);
  t.match(await writing.write(create(serial('b', 's'))), {
    ok: false,
    rejection: { reason: 'unique-value-taken', detail: /"a" has this value/u },
  });
  t.match(await writing.write(create(serial('b', 'm2'))), {
    ok: false,
    rejection: { reason: 'unique-value-taken', detail: /"moving" has this value/u },
  });
  t.equal(verdict(await writing.write(create(serial('b', 'm')))), 'ok');
  t.equal(verdict(await writing.write(create(serial('c', 'g')))), 'ok');
});

test('an object keeps a value from a time without uniqueness, even if another one had claimed it before', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(serial('a', 's')));
  await writing.write(merge({ spec: { serial: 't' } }, { name: 'a' }));
  await writing.declare(notUnique);
  t.equal(verdict(await writing.write(create(serial('b', 's')))), 'ok');
  t.equal(verdict(await writing.write(create(serial('c', 't')))), 'ok', 'two have it: the index is not unique');
  await writing.declare(widgets);
  for (const dryRun of [true, false]) {
    t.match(await writing.write(create(serial('d', 's')), { dryRun }), {
      ok: false,
      rejection: { reason: 'unique-value-taken', detail: /"b" has this value/u },
    });
    t.equal(verdict(await writing.write(create(serial('e', 't')), { dryRun })), 'unique-value-taken');
  }
  t.equal(verdict(await writing.write(remove({}, 'b'))), 'ok');
  t.equal(verdict(await writing.write(create(serial('d', 's')))), 'ok');
});

test('a value released on another node is free, though this node has not folded the release yet', async (t) => {
  const writing = await Writing.open(t, { type: notUnique });
  await writing.write(create(serial('w1', 's')));
  await writing.declare(widgets);
  const moved = writing.log.append(
    streamOf('w1'),
    [encodeEvent(idOf('moved'), updated(widget({ metadata: { version: 1 } })), metadata)],
    streamRevision(0),
  );
  t.equal(verdict(await writing.write(create(serial('b', 's')))), 'ok');
  t.match(await moved, { ok: true });
});

test("a write waits for a dead writer's claim, gets the value, and the dead writer's append fails", async (t) => {
  const writing = await Writing.open(t);
  const dead = encodeEvent(
    idOf('dead'),
    created(widget({ metadata: { name: 'dead' }, spec: { title: 'One', serial: 's' } })),
    metadata,
  );
  const [value] = valuesOf(widget({ spec: { title: 'One', serial: 's' } }));
  const claim = encodeEvent(idOf('claim'), { type: 'ValueClaimed', holder: streamOf('dead'), through: -1 }, metadata);
  await writing.log.append(claimStream(widgets.key, value!), [claim], 'absent');
  t.equal(verdict(await writing.write(create(serial('next', 's')))), 'ok');
  t.match(await writing.log.append(streamOf('dead'), [dead], 'absent'), { ok: false, reason: 'conflict' });
  const again = shown(await writing.write(create(body({ metadata: { name: 'dead' } }))));
  t.equal(again.metadata.version, 1, 'the fenced name goes on numbering');
  t.equal(verdict(await writing.write(merge({ spec: { serial: 's' } }, { name: 'dead' }))), 'unique-value-taken');
});

test('a generated name that is taken is drawn again', async (t) => {
  const writing = await Writing.open(t, { suffixes: ['aaaaa', 'aaaaa', 'aaaaa', 'bbbbb'] });
  const generated = create(body({ metadata: { name: '', generateName: 'job-' } }));
  t.equal(shown(await writing.write(generated)).metadata.name, 'job-aaaaa');
  t.equal(shown(await writing.write(generated)).metadata.name, 'job-bbbbb');
});

test('the number of draws of a generated name is bounded', async (t) => {
  const drawsAfterFirst = many(generateNameAttemptsMax + 1, () => 'aaaaa');
  const writing = await Writing.open(t, { suffixes: [...drawsAfterFirst, 'fresh'] });
  const generated = create(body({ metadata: { name: '', generateName: 'job-' } }));
  await writing.write(generated);
  t.equal(verdict(await writing.write(generated)), 'already-exists');
  t.equal(shown(await writing.write(generated)).metadata.name, 'job-fresh');
});

test('racing creates that draw one name all get different ones', async (t) => {
  const writing = await Writing.open(t, { suffixes: ['aaaaa', 'aaaaa', 'aaaaa', 'aaaaa'] });
  const outcomes = await writing.race(many(4, () => create(body({ metadata: { name: '', generateName: 'job-' } }))));
  t.equal(new Set(outcomes.map((outcome) => shown(outcome).metadata.name)).size, 4);
});

test('a dry run appends nothing and answers with the resulting object', async (t) => {
  const writing = await Writing.open(t);
  const first = shown(await writing.write(create(serial('a', 's'))));
  const before = (await writing.recorded()).length;
  const made = await writing.write(create(serial('b', 's2')), { dryRun: true });
  t.match(made, { ok: true, appended: false, version: 0, name: 'b' });
  t.type(shown(made).metadata.uid, 'string');
  t.notOk('resourceVersion' in shown(made).metadata);
  t.match(shown(await writing.write(merge({ spec: { title: 'Two' } }, { name: 'a' }), { dryRun: true })), {
    metadata: { uid: first.metadata.uid, version: 1, generation: 2 },
    spec: { title: 'Two' },
  });
  t.type(shown(await writing.write(remove({}, 'a'), { dryRun: true })).metadata.deletionTimestamp, 'string');
  t.equal((await writing.recorded()).length, before);
  t.strictSame(writing.object('a'), first);
  t.equal(writing.object('b'), undefined);
});

test('a dry run refuses like a write: a taken name, a taken value, a stale version, a broken rule', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(serial('a', 's')));
  const before = (await writing.recorded()).length;
  const dry = async (command: Command): Promise<string> => verdict(await writing.write(command, { dryRun: true }));
  t.equal(await dry(create(serial('a', 's'))), 'already-exists');
  t.equal(await dry(create(serial('b', 's'))), 'unique-value-taken');
  t.equal(await dry(merge({ metadata: { version: 7 } }, { name: 'a' })), 'stale-version');
  t.equal(await dry(merge({ spec: { title: '' } }, { name: 'a' })), 'invalid');
  t.equal(await dry(remove({}, 'none')), 'not-found');
  t.equal((await writing.recorded()).length, before);
  t.equal(verdict(await writing.write(create(serial('b', 's2')))), 'ok');
});

test("another node's events are folded before an answer without an append", async (t) => {
  const writing = await Writing.open(t);
  const append = async (text: string, expected: 'absent' | number, event: Parameters<typeof encodeEvent>[1]) =>
    writing.log.append(streamOf('w1'), [encodeEvent(idOf(text), event, metadata)], expected as never);
  const made = append('made', 'absent', created());
  t.equal(
    verdict(await writing.write(put(body({ metadata: { version: 0 } })))),
    'ok',
    'no 404 from a read model that is behind',
  );
  await made;
  const changed = append('changed', 0, updated(widget({ metadata: { version: 1 }, spec: { title: 'Two' } })));
  t.equal(verdict(await writing.write(put(body({ metadata: { version: 1 } })))), 'ok', 'no 409 either');
  await changed;
});

test('the log confirms that an object exists or is missing, and nothing is appended', async (t) => {
  const writing = await Writing.open(t);
  const confirm = async (name: string): Promise<string> =>
    verdict(await writing.settle(confirmExists(writing.execute, { type: widgets, name }, writeContext)));
  t.equal(await confirm('w1'), 'not-found');
  t.equal(await confirm('no/name'), 'not-found');
  const made = writing.log.append(streamOf('w1'), [encodeEvent(idOf('made'), created(), metadata)], 'absent');
  t.equal(await confirm('w1'), 'ok', 'an object that another node created');
  await made;
  t.not(writing.object(), undefined, 'this node has folded it');
  await writing.write(remove());
  t.equal(await confirm('w1'), 'not-found');
  const { length } = await writing.recorded();
  t.equal(await confirm('w1'), 'not-found');
  t.equal((await writing.recorded()).length, length);
});

test('an impossible name is refused without a read', async (t) => {
  const writing = await Writing.open(t);
  for (const name of ['a\0', '\ud800', 'a/b', 'A', '', 'n'.repeat(254), 'n'.repeat(100_000)]) {
    t.equal(verdict(await writing.write(create(body({ metadata: { name } })))), 'invalid');
    for (const command of [
      put(body(), { name }),
      merge({}, { name }),
      jsonPatch([], { name }),
      remove({}, name),
      collect('u', name),
    ])
      t.equal(verdict(await writing.write(command)), 'not-found');
  }
  for (const generateName of ['a\0', '\ud800', 'A'])
    t.equal(verdict(await writing.write(create(body({ metadata: { name: '', generateName } })))), 'invalid');
  t.equal(verdict(await writing.write(create({ metadata: 'x', spec: { title: 'One' } }))), 'invalid');
  t.equal((await writing.recorded()).length, 0);
});

test("an object's size is bounded", async (t) => {
  const writing = await Writing.open(t);
  const size = (length: number) => create(body({ spec: { title: 'One', free: 'x'.repeat(length) } }));
  await writing.write(size(0));
  const [event] = await writing.recorded('w1');
  const room = objectBytesMax - (event?.data.length ?? 0);
  const named = (length: number, name: string) =>
    create(body({ metadata: { name }, spec: { title: 'One', free: 'x'.repeat(length) } }));
  const tooLarge = await writing.write(named(room + 1, 'w2'));
  t.match(tooLarge, { ok: false, rejection: { reason: 'invalid', detail: /at most 786432 bytes/u } });
  t.equal(verdict(await writing.write(named(room, 'w2'))), 'ok');
  t.equal(
    verdict(
      await writing.write(
        jsonPatch([{ op: 'copy', from: '/spec/free', path: '/metadata/annotations' }], { name: 'w2' }),
      ),
    ),
    'invalid',
  );
});

test('event times do not decrease within the log, unless a clock was wrong by more than a minute', async (t) => {
  const writing = await Writing.open(t, { lastEventTime: Date.UTC(2026, 0, 1, 0, 1) });
  await writing.write(create(body()));
  const jumps = [2 * 86_400_000, -30_000, -29_000, -5 * 86_400_000];
  for (const [at, ms] of jumps.entries()) {
    writing.clock.jump(ms);
    await writing.write(merge({ spec: { title: String(at) } }));
  }
  const times = (await writing.recorded('w1')).map((event) => decodeMetadata(event).time);
  t.equal(times[0], '2026-01-01T00:01:00.000Z', 'a minute ahead is followed');
  const [, jumped, before, also, follows] = times.map((time) => Date.parse(time));
  t.ok(jumped! >= Date.UTC(2026, 0, 3));
  t.equal(before, jumped);
  t.equal(also, jumped);
  t.ok(follows! < Date.UTC(2025, 11, 30), 'what a wrong clock said is not followed');
  t.equal(writing.object()?.metadata.creationTimestamp, times[0]);
});

test('each event names its author', async (t) => {
  const writing = await Writing.open(t);
  const cause = {
    actor: 'ada',
    verb: 'create',
    requestId: 'r-7',
    address: '::1',
    userAgent: 'x',
    traceParent: '00-a-b-01',
    plugin: 'p',
  };
  await writing.write(create(body()), { cause });
  t.match(decodeMetadata((await writing.recorded('w1'))[0]!), { ...cause, $correlationId: 'r-7', schema: eventSchema });
});

test('warnings come with the answer, also of a no-op', async (t) => {
  const writing = await Writing.open(t);
  const warned = ['unknown field "odd"'];
  const outcomes: WriteOutcome[] = [];
  for (const command of [create(body({ odd: 1 })), put(body({ odd: 1 }))])
    outcomes.push(await writing.write(command, { fieldValidation: 'Warn' }));
  for (const outcome of outcomes) t.match(outcome, { ok: true, warnings: warned });
});

test('the life of an object, to its removal and back', async (t) => {
  const writing = await Writing.open(t);
  const first = shown(await writing.write(create(body({ metadata: { finalizers: ['f'] } }))));
  t.equal(verdict(await writing.write(remove())), 'ok');
  t.equal(verdict(await writing.write(collect(first.metadata.uid))), 'precondition-failed');
  const { position } = (await writing.recorded()).at(-1)!;
  const last = shown(await writing.write(merge({ metadata: { finalizers: null } })));
  t.match(last.metadata, { uid: first.metadata.uid, version: 3, resourceVersion: (position + 2n).toString() });
  t.type(last.metadata.deletionTimestamp, 'string', 'the last state is answered');
  t.notOk('finalizers' in last.metadata);
  t.equal(writing.object(), undefined);
  t.equal(verdict(await writing.write(remove())), 'not-found');
  t.equal(verdict(await writing.write(merge({}))), 'not-found');
  const second = shown(await writing.write(create(body())));
  t.equal(second.metadata.version, 4);
  t.not(second.metadata.uid, first.metadata.uid);
  t.equal(verdict(await writing.write(collect(first.metadata.uid))), 'not-found');
  t.strictSame(
    (await writing.events()).map(({ type }) => type),
    ['ObjectCreated', 'ObjectDeletionRequested', 'ObjectUpdated', 'ObjectDeleted', 'ObjectCreated'],
  );
});
