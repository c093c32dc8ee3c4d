/**
 * A deletion is one append: what nothing holds is gone with the answer, and what holds it goes with the write that lets
 * go.
 */
import { test, type Test } from 'tap';

import type { Command, WriteContext, WriteOutcome } from '../../src/command/command.ts';
import { appendBytesMax } from '../../src/limits/log.ts';
import { objectBytesMax } from '../../src/limits/objects.ts';
import type { AppendOutcome, EventLog, ProposedEvent } from '../../src/log/log.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { streamRevision } from '../../src/log/log.ts';
import { writeRates } from '../../src/write/admission/writer.ts';
import { bytesOf } from '../../src/write/proposal.ts';
import { body, collect, create, fenced, merge, remove, widget, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { altered, shown, verdict, Writing, type WritingOptions } from '../support/writing.ts';

type Counted = { readonly writing: Writing; readonly appends: (readonly string[])[] };

/** With what each append to an object's stream holds. */
async function counted(t: Test, options: WritingOptions = {}): Promise<Counted> {
  const appends: (readonly string[])[] = [];
  const through = (log: EventLog): EventLog =>
    altered(options.through?.(log) ?? log, {
      append: async (stream, events, expected) => {
        if (stream.startsWith('object:')) appends.push(events.map(({ type }) => type));
        return (options.through?.(log) ?? log).append(stream, events, expected);
      },
    });
  return { writing: await Writing.open(t, { ...options, through }), appends };
}

/** No time passes: a caller that has to wait never returns. */
async function atOnce(writing: Writing, command: Command, more: Partial<WriteContext> = {}): Promise<WriteOutcome> {
  const cause = { actor: 'test', verb: 'write', requestId: 'r' };
  const subject = { kind: 'platform', part: 'test' } as const;
  return writing.execute(widgets, command, {
    cause,
    dryRun: false,
    fieldValidation: undefined,
    origin: 'client',
    subject,
    ...more,
  });
}

const serial = (name: string, value: string) => body({ metadata: { name }, spec: { title: name, serial: value } });
const metadata: EventMetadata = {
  actor: 'another',
  verb: 'update',
  requestId: 'r',
  $correlationId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
};

test('DELETE of an object without finalizers is one append of two events, answered with the last state', async (t) => {
  const { writing, appends } = await counted(t);
  const batches: (readonly string[])[] = [];
  const made = shown(await atOnce(writing, create(serial('a', 's'))));
  writing.models.subscribe(({ changes }) => {
    batches.push(changes.map(({ kind, revision }) => `${kind} ${String(revision)}`));
  });
  const outcome = await atOnce(writing, remove({}, 'a'));
  t.match(outcome, { ok: true, appended: true, version: 2, name: 'a' });
  t.strictSame(appends.slice(1), [['ObjectDeletionRequested', 'ObjectDeleted']]);
  t.strictSame(batches, [['modified 1', 'deleted 2']], 'both in one turn');
  const [, marked, removed] = await writing.recorded('a');
  const last = shown(outcome);
  t.equal(last.metadata.resourceVersion, removed?.position.toString());
  t.equal(writing.models.position(), removed?.position, 'the answer is what can be read');
  t.match(last, { metadata: { uid: made.metadata.uid, version: 2, generation: 2 }, spec: { serial: 's' } });
  t.type(last.metadata.deletionTimestamp, 'string');
  t.ok(marked !== undefined && removed !== undefined && marked.id !== removed.id);
  t.equal(writing.object('a'), undefined);
  t.equal(verdict(await atOnce(writing, remove({}, 'a'))), 'not-found');
  t.equal(shown(await atOnce(writing, create(serial('a', 's')))).metadata.version, 3, 'its name and value are free');
});

test('the value of a deleted object is free at once for another name', async (t) => {
  const { writing } = await counted(t);
  for (let round = 0; round < 20; round += 1) {
    t.equal(verdict(await atOnce(writing, create(serial(`w${String(round)}`, 's')))), 'ok');
    t.equal(verdict(await atOnce(writing, remove({}, `w${String(round)}`))), 'ok');
  }
});

test('the write that removes the last finalizer removes the object, other writes do not', async (t) => {
  const { writing, appends } = await counted(t);
  shown(await atOnce(writing, create(body({ metadata: { finalizers: ['f', 'g'] } }))));
  t.equal(shown(await atOnce(writing, remove())).metadata.version, 1);
  t.equal(shown(await atOnce(writing, remove())).metadata.version, 1, 'again: unchanged');
  t.equal(shown(await atOnce(writing, merge({ metadata: { finalizers: ['g'] } }))).metadata.version, 2);
  const last = shown(await atOnce(writing, merge({ metadata: { finalizers: null }, spec: { title: 'Last' } })));
  t.match(last, { metadata: { version: 4, generation: 3 }, spec: { title: 'Last' } });
  t.strictSame(appends, [
    ['ObjectCreated'],
    ['ObjectDeletionRequested'],
    ['ObjectUpdated'],
    ['ObjectUpdated', 'ObjectDeleted'],
  ]);
  t.equal(verdict(await atOnce(writing, merge({}))), 'not-found');
});

test('a deletion of unknown outcome is sent again with the same two events, and is stored once', async (t) => {
  for (const isLanded of [true, false]) {
    const sent: (readonly string[])[] = [];
    const { writing } = await counted(t, {
      through: (log) =>
        altered(log, {
          append: async (stream, events, expected): Promise<AppendOutcome> => {
            if (events.length === 1) return log.append(stream, events, expected);
            sent.push(events.map(({ id }) => id));
            if (sent.length > 1) return log.append(stream, events, expected);
            if (isLanded) await log.append(stream, events, expected);
            return { ok: false, reason: 'unknown', cause: 'no reply' };
          },
        }),
    });
    shown(await writing.write(create(body())));
    t.equal(shown(await writing.write(remove())).metadata.version, 2);
    t.equal(sent.length, 2);
    t.strictSame(sent[1], sent[0]);
    t.equal((await writing.recorded('w1')).length, 3);
  }
});

test('of a fence and a deletion at one revision one succeeds, and the deletion is decided again', async (t) => {
  let isFenced = false;
  const { writing } = await counted(t, {
    through: (log) =>
      altered(log, {
        append: async (stream, events, expected) => {
          if (events.length === 2 && !isFenced) {
            isFenced = true;
            const object = widget({ metadata: { version: 1, uid: shownUid } });
            await log.append(stream, [encodeEvent(idOf('fence'), fenced(object), metadata)], streamRevision(0));
          }
          return log.append(stream, events, expected);
        },
      }),
  });
  const shownUid = shown(await writing.write(create(body()))).metadata.uid;
  t.equal(shown(await writing.write(remove())).metadata.version, 3);
  t.strictSame(
    (await writing.events()).map(({ type }) => type),
    ['ObjectCreated', 'NameFenced', 'ObjectDeletionRequested', 'ObjectDeleted'],
  );
});

test('a dry run answers like the deletion, and appends nothing', async (t) => {
  const { writing, appends } = await counted(t);
  shown(await atOnce(writing, create(body())));
  const tried = await atOnce(writing, remove(), { dryRun: true });
  t.match(tried, { ok: true, appended: false, version: 2 });
  t.type(shown(tried).metadata.deletionTimestamp, 'string');
  t.equal(shown(tried).metadata.resourceVersion, writing.object()?.metadata.resourceVersion, 'of the stored object');
  t.equal(appends.length, 1);
  t.equal(writing.object()?.metadata.version, 0);
});

const large = (name: string, length: number): Command =>
  create(body({ metadata: { name }, spec: { title: 'One', free: 'x'.repeat(length) } }));

test('a deletion too large for one append marks the object alone, and the collector removes it', async (t) => {
  const sizes: number[] = [];
  const { writing, appends } = await counted(t, {
    through: (log) =>
      altered(log, {
        append: async (stream, events: readonly ProposedEvent[], expected) => {
          if (events.length === 2) sizes.push(events.reduce((sum, event) => sum + bytesOf(event), 0));
          return log.append(stream, events, expected);
        },
      }),
  });
  shown(await atOnce(writing, large('w0', 0)));
  shown(await atOnce(writing, remove({}, 'w0')));
  const room = Math.floor((appendBytesMax - sizes[0]!) / 2);
  shown(await atOnce(writing, large('w1', room)));
  t.equal(shown(await atOnce(writing, remove({}, 'w1'))).metadata.version, 2, 'as large as one append');
  t.ok(appendBytesMax - sizes[1]! < 2);
  const { uid } = shown(await atOnce(writing, large('w2', room + 1))).metadata;
  t.match(await atOnce(writing, remove({}, 'w2'), { dryRun: true }), { version: 1 });
  const marked = shown(await atOnce(writing, remove({}, 'w2')));
  t.equal(marked.metadata.version, 1, 'larger');
  t.strictSame(writing.object('w2'), marked, 'it is answered and read');
  t.strictSame(appends.at(-1), ['ObjectDeletionRequested']);
  t.equal(verdict(await atOnce(writing, collect(uid, 'w2'))), 'ok');
  t.equal(writing.object('w2'), undefined);
});

test('an object of the maximum size can be deleted', async (t) => {
  const { writing } = await counted(t);
  shown(await atOnce(writing, large('w1', 0)));
  const [event] = await writing.recorded('w1');
  const { uid } = shown(await atOnce(writing, large('w2', objectBytesMax - event!.data.length))).metadata;
  t.equal(verdict(await atOnce(writing, remove({}, 'w2'))), 'ok');
  t.equal(verdict(await atOnce(writing, collect(uid, 'w2'))), 'ok');
});

test('a user pays for both events', async (t) => {
  const { writing } = await counted(t, { rates: writeRates(0, 100_000) });
  const subject = { kind: 'user', name: 'alice', credential: { kind: 'password', uid: 'alice' } } as const;
  for (let index = 0; index < 4; index += 1) shown(await atOnce(writing, large(`w${String(index)}`, 200_000)));
  const next = async (place: number): Promise<string> =>
    verdict(await atOnce(writing, remove({}, `w${String(place)}`), { subject }));
  t.strictSame(
    [await next(0), await next(1), await next(2)],
    ['ok', 'ok', 'too-many-requests'],
    '1,000,000 bytes of 400,000 each',
  );
});
