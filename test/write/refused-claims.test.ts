/** A write that is refused after it has claimed values leaves them free, at once and without a trace of its name. */
import { test, type Test } from 'tap';

import { claimStream } from '../../src/write/unique/unique-claims.ts';
import type { Command, WriteContext, WriteOutcome } from '../../src/command/command.ts';
import { decodeEvent, encodeEvent, isObjectEvent } from '../../src/log/event-codec.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { streamRevision, type EventLog, type ExpectedRevision } from '../../src/log/log.ts';
import { writeRates } from '../../src/write/admission/writer.ts';
import { body, create, merge, put, valuesOf, widget, widgets, widgetType } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { altered, shown, streamOf, verdict, Writing, type WritingOptions } from '../support/writing.ts';

/** Claimed in this order: `spec.serial`, then `spec.title`. */
const type = widgetType({
  indexes: [
    { name: 'spec.serial', unique: true },
    { name: 'spec.title', unique: true },
  ],
});
const made = (name: string, title: string, serial: string) => body({ metadata: { name }, spec: { title, serial } });
const metadata: EventMetadata = {
  actor: 'another',
  verb: 'update',
  requestId: 'r',
  $correlationId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
};
const patched = (name: string, title: string, serial: string) => merge({ spec: { title, serial } }, { name });

async function opened(t: Test, options: WritingOptions = {}): Promise<Writing> {
  const writing = await Writing.open(t, { type, ...options });
  shown(await writing.write(create(made('holder', 'taken', 's0'))));
  return writing;
}

/** What the claim of a serial says last. */
async function standing({ log }: { readonly log: EventLog }, serial: string): Promise<string | undefined> {
  const [value] = valuesOf(widget({ spec: { title: 'One', serial } }));
  const last = await log.readLast(claimStream(widgets.key, value!));
  return last === undefined ? undefined : decodeEvent(last).event.type;
}

/** No time passes: a caller that has to wait never returns. */
async function atOnce(writing: Writing, command: Command, more: Partial<WriteContext> = {}): Promise<WriteOutcome> {
  const context: WriteContext = {
    cause: { actor: 'test', verb: 'write', requestId: 'r' },
    dryRun: false,
    fieldValidation: undefined,
    origin: 'client',
    subject: { kind: 'platform', part: 'test' },
    ...more,
  };
  return writing.execute(type, command, context);
}

test('nobody waits for a value claimed by a refused create, and its name stays unused', async (t) => {
  const writing = await opened(t);
  t.equal(verdict(await atOnce(writing, create(made('refused', 'taken', 's1')))), 'unique-value-taken');
  t.equal(await standing(writing, 's1'), 'ValueReleased');
  t.equal(verdict(await atOnce(writing, create(made('next', 'free', 's1')))), 'ok');
  t.strictSame(await writing.recorded('refused'), [], 'the name was never fenced');
  t.equal(shown(await atOnce(writing, create(made('refused', 'other', 's2')))).metadata.version, 0);
});

test('a refused update releases its new claims, and none that its object holds', async (t) => {
  const writing = await opened(t);
  shown(await atOnce(writing, create(made('a', 'mine', 's1'))));
  t.equal(verdict(await atOnce(writing, patched('a', 'taken', 's2'))), 'unique-value-taken');
  t.equal(await standing(writing, 's2'), 'ValueReleased');
  t.equal(verdict(await atOnce(writing, patched('a', 'taken', 's1'))), 'unique-value-taken');
  t.equal(await standing(writing, 's1'), 'ValueClaimed');
  t.equal(verdict(await atOnce(writing, create(made('b', 'free', 's1')))), 'unique-value-taken');
  t.equal(verdict(await atOnce(writing, create(made('b', 'free', 's2')))), 'ok');
});

test('an update on a stale base releases nothing: the held values are not known', async (t) => {
  let isBehind = false;
  let behind: Promise<unknown> = Promise.resolve();
  const writing = await opened(t, {
    through: (log) =>
      altered(log, {
        // Between the decision and the claims another node writes the object, which holds its value on.
        readLast: async (stream) => {
          if (isBehind && stream === streamOf('a')) {
            isBehind = false;
            const object = widget({ metadata: { name: 'a', version: 1 }, spec: { title: 'mine', serial: 's1' } });
            const event = { type: 'ObjectUpdated', object, values: await heldBy(log) } as const;
            behind = log.append(stream, [encodeEvent(idOf('elsewhere'), event, metadata)], streamRevision(0));
            await behind;
          }
          return log.readLast(stream);
        },
      }),
  });
  const heldBy = async (log: EventLog) => {
    const { event } = decodeEvent((await log.readLast(streamOf('a')))!);
    return isObjectEvent(event) ? event.values : [];
  };
  shown(await atOnce(writing, create(made('a', 'mine', 's1'))));
  isBehind = true;
  t.equal(verdict(await atOnce(writing, put(made('a', 'taken', 's1'), { name: 'a' }))), 'unique-value-taken');
  t.match(await behind, { ok: true });
  t.equal(await standing(writing, 's1'), 'ValueClaimed');
  t.equal(verdict(await atOnce(writing, create(made('b', 'free', 's1')))), 'unique-value-taken');
});

test('once the append to the object was sent its claims stay, with any outcome', async (t) => {
  const writing = await opened(t, {
    through: (log) =>
      altered(log, {
        append: async (stream, ...call) => {
          if (stream !== streamOf('late')) return log.append(stream, ...call);
          return { ok: false, reason: 'unavailable', cause: 'it broke' };
        },
      }),
  });
  t.equal(verdict(await atOnce(writing, create(made('late', 'free', 's1')))), 'unavailable');
  t.equal(await standing(writing, 's1'), 'ValueClaimed');
});

test('a claim shared with another attempt of the same object is not released', async (t) => {
  const [value] = valuesOf(widget({ spec: { title: 'One', serial: 's1' } }));
  const claim = claimStream(widgets.key, value!);
  for (const order of ['theirs first', 'ours first']) {
    let meanwhile = order === 'ours first';
    const writing = await opened(t, {
      through: (log) =>
        altered(log, {
          append: async (stream, ...call) => {
            const outcome = await log.append(stream, ...call);
            if (!meanwhile || stream !== claim) return outcome;
            meanwhile = false;
            await theirs(log, streamRevision(0));
            return outcome;
          },
        }),
    });
    const theirs = async (log: EventLog, expected: ExpectedRevision): Promise<void> => {
      const claimed = { type: 'ValueClaimed', holder: streamOf('both'), through: -1 } as const;
      await log.append(claim, [encodeEvent(idOf('theirs'), claimed, metadata)], expected);
    };
    if (order === 'theirs first') await theirs(writing.log, 'absent');
    t.equal(verdict(await atOnce(writing, create(made('both', 'taken', 's1')))), 'unique-value-taken');
    t.equal(await standing(writing, 's1'), 'ValueClaimed', `${order}: another node's create may still land`);
  }
});

test('a user pays for claims and their release, even when the write is refused', async (t) => {
  const writing = await opened(t, { rates: writeRates(0, 1_000) });
  const subject = { kind: 'user', name: 'alice', credential: { kind: 'password', uid: 'alice' } } as const;
  const next = async (place: number): Promise<string> =>
    verdict(await atOnce(writing, create(made(`r${String(place)}`, 'taken', `x${String(place)}`)), { subject }));
  let refused = 0;
  while (refused < 100 && (await next(refused)) === 'unique-value-taken') refused += 1;
  t.equal(refused, 6, 'each takes 1,536 of 10,000 bytes: two claims and one given up');
  const claims = (await writing.recorded()).filter(({ stream }) => /^claim:.*serial/u.test(stream));
  t.equal(claims.length, 1 + 2 * refused, 'each that was made was given up');
});
