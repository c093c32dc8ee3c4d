import { test } from 'tap';

import type { IntentEvent } from '../../../src/command/event.ts';
import { eventSchema } from '../../../src/command/event.ts';
import { encodeEvent } from '../../../src/log/event-codec.ts';
import { logPosition, logStart, streamName } from '../../../src/log/log.ts';
import { linkType, ReferringWriting } from '../../support/referring.ts';
import { idOf } from '../../support/id-of.ts';
import { altered, shown, verdict } from '../../support/writing.ts';

const strict = linkType({ onMissing: 'refuse', onDelete: 'refuse' });
const end = logPosition(1_000_000n);

async function streamsAfter({ writing }: ReferringWriting, step: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await writing.recorded()).length;
  await step();
  return (await writing.recorded()).slice(before).map(({ stream, type }) => `${stream} ${type}`);
}

test('a write announces the strict references that it adds, and only these', async (t) => {
  const given = await ReferringWriting.open(t, [strict]);
  for (const name of ['blue', 'red']) shown(await given.make('group', name));
  const created = await streamsAfter(given, () => given.make('link', 'a', { group: 'blue', groups: ['blue'] }));
  t.strictSame(created, ['ref:links.example.com/a ReferencesIntended', 'object:links.example.com/a ObjectCreated']);
  t.strictSame(await streamsAfter(given, () => given.change('link', 'a', { spec: { title: 'x' } })), [
    'object:links.example.com/a ObjectUpdated',
  ]);
  t.strictSame(await streamsAfter(given, () => given.change('link', 'a', { spec: { groups: ['red'] } })), [
    'ref:links.example.com/a ReferencesIntended',
    'object:links.example.com/a ObjectUpdated',
  ]);
  t.strictSame(await streamsAfter(given, () => given.make('link', 'b', { group: 'blue' }, { dryRun: true })), []);
});

test('a deletion is announced, and refused without an event while an object names the target', async (t) => {
  const given = await ReferringWriting.open(t, [strict]);
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'blue' }));
  t.strictSame(
    await streamsAfter(given, async () => {
      t.equal(verdict(await given.delete('group', 'blue')), 'referenced');
    }),
    [],
  );
  shown(await given.change('link', 'a', { spec: { group: null } }));
  t.strictSame(await streamsAfter(given, () => given.delete('group', 'blue')), [
    'closing:groups.example.com/blue DeletionIntended',
    'object:groups.example.com/blue ObjectDeletionRequested',
    'object:groups.example.com/blue ObjectDeleted',
  ]);
  t.match(await given.make('link', 'b', { group: 'blue' }), { rejection: { reason: 'invalid' } });
  t.strictSame(await streamsAfter(given, () => given.delete('link', 'a')), [
    'object:links.example.com/a ObjectDeletionRequested',
    'object:links.example.com/a ObjectDeleted',
  ]);
});

test('no intent is pending after the writes', async (t) => {
  const given = await ReferringWriting.open(t, [strict]);
  const { references } = given.writing.models;
  for (const name of ['blue', 'red']) shown(await given.make('group', name));
  shown(await given.make('link', 'a', { groups: ['blue', 'red'] }));
  shown(await given.delete('link', 'a'));
  shown(await given.delete('group', 'red'));
  for (const name of ['blue', 'red']) {
    t.strictSame(references.naming(`groups.example.com/${name}`, end), []);
    t.strictSame(references.closings(`groups.example.com/${name}`, end), []);
  }
});

test('a write that is refused after its announcement withdraws the announcement', async (t) => {
  const removed: { isDone: boolean; remove: () => Promise<void> } = { isDone: false, remove: () => Promise.resolve() };
  const given = await ReferringWriting.open(t, [strict], {
    through: (log) =>
      altered(log, {
        append: async (stream, ...rest) => {
          if (stream === 'ref:links.example.com/a' && !removed.isDone) {
            removed.isDone = true;
            await removed.remove();
          }
          return log.append(stream, ...rest);
        },
      }),
  });
  shown(await given.make('group', 'blue'));
  removed.remove = async () => {
    shown(await given.delete('group', 'blue'));
  };
  const streams = await streamsAfter(given, async () => {
    t.equal(verdict(await given.make('link', 'a', { group: 'blue' })), 'invalid');
  });
  t.strictSame(streams.slice(-2), [
    'ref:links.example.com/a ReferencesIntended',
    'ref:links.example.com/a IntentWithdrawn',
  ]);
  t.strictSame(given.writing.models.references.naming('groups.example.com/blue', end), []);
});

async function leave({ writing }: ReferringWriting, stream: string, event: IntentEvent): Promise<void> {
  const metadata = {
    actor: 'another node',
    verb: 'write',
    requestId: 'r',
    $correlationId: 'r',
    time: '2026-01-01T00:00:00.000Z',
    schema: eventSchema,
  };
  const proposed = encodeEvent(idOf(`left in ${stream}`), event, metadata);
  const appended = await writing.log.append(streamName(stream), [proposed], 'absent');
  if (!appended.ok) throw new Error(appended.reason);
  await writing.models.reached(appended.position, { timeoutMs: 10_000 });
}

test('a deletion waits for an announced write of another node, and then fences it', async (t) => {
  const given = await ReferringWriting.open(t, [strict]);
  shown(await given.make('group', 'blue'));
  await leave(given, 'ref:links.example.com/a', {
    type: 'ReferencesIntended',
    targets: ['groups.example.com/blue'],
    through: -1,
  });
  const before = given.writing.clock.monotonic();
  shown(await given.delete('group', 'blue'));
  t.ok(given.writing.clock.monotonic() - before >= 2_000, 'the other node had time');
  const fence = (await given.writing.recorded()).find(({ type }) => type === 'NameFenced');
  t.equal(fence?.stream, 'object:links.example.com/a');
  t.notOk(given.exists('group', 'blue'));
});

test('a write waits for an announced deletion by another node, and then fences it', async (t) => {
  const given = await ReferringWriting.open(t, [strict]);
  shown(await given.make('group', 'blue'));
  await leave(given, 'closing:groups.example.com/blue', { type: 'DeletionIntended', through: 0 });
  const before = given.writing.clock.monotonic();
  shown(await given.make('link', 'a', { group: 'blue' }));
  t.ok(given.writing.clock.monotonic() - before >= 2_000, 'the other node had time');
  t.ok(given.exists('group', 'blue'));
  t.equal(verdict(await given.delete('group', 'blue')), 'referenced');
});

test('an announcement whose append can no longer succeed does not delay other writes', async (t) => {
  const given = await ReferringWriting.open(t, [strict]);
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a'));
  await leave(given, 'ref:links.example.com/a', {
    type: 'ReferencesIntended',
    targets: ['groups.example.com/blue'],
    through: -1,
  });
  const before = given.writing.clock.monotonic();
  shown(await given.delete('group', 'blue'));
  t.ok(given.writing.clock.monotonic() - before < 2_000, 'the deletion waited for no fence');
});

test('a refused announcement changes nothing', async (t) => {
  const given = await ReferringWriting.open(t, [strict], {
    through: (log) =>
      altered(log, {
        append: async (stream, ...rest) =>
          stream.startsWith('ref:')
            ? { ok: false, reason: 'unavailable', cause: new Error('the log is read-only') }
            : log.append(stream, ...rest),
      }),
  });
  shown(await given.make('group', 'blue'));
  t.equal(verdict(await given.make('link', 'a', { group: 'blue' })), 'unavailable');
  t.notOk(given.exists('link', 'a'));
  t.ok(given.writing.models.position() > logStart);
});
