import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { writeAttemptsMax, writesInFlightMax } from '../../src/limits/writes.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { LogCorruptError, type AppendOutcome, type EventLog } from '../../src/log/log.ts';
import { body, create, created, merge, put, remove, widget, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { altered, shown, streamOf, tally, verdict, Writing } from '../support/writing.ts';

const metadata: EventMetadata = {
  actor: 'another',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const unknown: AppendOutcome = { ok: false, reason: 'unknown', cause: new Error('no answer came') };

type Fault = 'lost' | 'unacknowledged' | 'none';

/** Each append of an object in turn is lost, or taken without an answer, or neither. */
function failing(faults: readonly Fault[]): (log: EventLog) => EventLog {
  let calls = 0;
  return (log) =>
    altered(log, {
      append: async (...call) => {
        if (!call[0].startsWith('object:')) return log.append(...call);
        const fault = faults[calls] ?? 'none';
        calls += 1;
        if (fault === 'lost') return unknown;
        const outcome = await log.append(...call);
        return fault === 'unacknowledged' ? unknown : outcome;
      },
    });
}

const sequences: readonly (readonly Fault[])[] = [
  ['lost'],
  ['unacknowledged'],
  ['lost', 'lost', 'unacknowledged'],
  ['unacknowledged', 'lost', 'unacknowledged', 'lost'],
];

for (const faults of sequences) {
  test(`a write with the append faults ${faults.join(', ')} is stored once`, async (t) => {
    const writing = await Writing.open(t, { through: failing(faults) });
    const answer = shown(await writing.write(create(body({ spec: { title: 'One', serial: 's' } }))));
    t.equal((await writing.recorded('w1')).length, 1);
    t.strictSame(writing.object(), answer);
    t.match(shown(await writing.write(merge({ spec: { title: 'Two' } }))), { metadata: { version: 1 } });
  });
}

test('an append without a reply is refused as unavailable, and is stored at most once', async (t) => {
  for (const fault of ['lost', 'unacknowledged'] as const) {
    const writing = await Writing.open(t, { through: failing(Array.from({ length: writeAttemptsMax }, () => fault)) });
    t.match(await writing.write(create(body())), {
      ok: false,
      rejection: { reason: 'unavailable', retryAfterSeconds: 1 },
    });
    t.equal((await writing.recorded('w1')).length, fault === 'lost' ? 0 : 1);
    t.equal(verdict(await writing.write(create(body()))), fault === 'lost' ? 'ok' : 'already-exists');
  }
});

/** The first append of an object is lost, and another writer gets there before it is sent again. */
function overtaken(event: Parameters<typeof encodeEvent>[1]): (log: EventLog) => EventLog {
  let calls = 0;
  return (log) =>
    altered(log, {
      append: async (stream, events, expected) => {
        calls += 1;
        if (calls > 1) return log.append(stream, events, expected);
        await log.append(stream, [encodeEvent(idOf('another'), event, metadata)], expected);
        return unknown;
      },
    });
}

test('a lost append that another one overtook is decided again', async (t) => {
  const writing = await Writing.open(t, { through: overtaken(created(widget({ spec: { title: 'Theirs' } }))) });
  t.equal(verdict(await writing.write(create(body()))), 'already-exists');
  t.match(writing.object(), { spec: { title: 'Theirs' } });
  t.equal((await writing.recorded('w1')).length, 1);
});

test('a lost patch that another write overtook is applied on top of it', async (t) => {
  let theirs: EventLog | undefined;
  let calls = 0;
  const writing = await Writing.open(t, {
    through: (log) =>
      altered(log, {
        append: async (...call) => {
          calls += 1;
          if (calls !== 2) return log.append(...call);
          theirs = log;
          await log.append(
            call[0],
            [
              encodeEvent(
                idOf('another'),
                {
                  type: 'ObjectUpdated',
                  object: widget({ metadata: { version: 1, labels: { theirs: '1' } } }),
                  values: [],
                },
                metadata,
              ),
            ],
            call[2],
          );
          return unknown;
        },
      }),
  });
  await writing.write(create(body()));
  t.match(shown(await writing.write(merge({ metadata: { labels: { ours: '1' } } }))), {
    metadata: { version: 2, labels: { ours: '1', theirs: '1' } },
  });
  t.ok(theirs);
  t.equal(verdict(await writing.write(put(body({ metadata: { version: 1 } })))), 'stale-version');
});

test('a log that accepts no append makes writes unavailable, and nothing else', async (t) => {
  const writing = await Writing.open(t, {
    through: (log) =>
      altered(log, { append: async () => ({ ok: false, reason: 'unavailable', cause: new Error('no route') }) }),
  });
  t.match(await writing.write(create(body({ spec: { title: 'One', serial: 's' } }))), {
    ok: false,
    rejection: { reason: 'unavailable', retryAfterSeconds: 1 },
  });
  t.match(await writing.write(create(body())), { ok: false, rejection: { reason: 'unavailable' } });
  t.equal(verdict(await writing.write(create(body({ spec: {} })))), 'invalid');
  t.equal(verdict(await writing.write(create(body()), { dryRun: true })), 'ok');
  t.equal((await writing.recorded()).length, 0);
});

test('an unreadable log makes writes unavailable, also those that would append nothing', async (t) => {
  let broken = false;
  const writing = await Writing.open(t, {
    through: (log) =>
      altered(log, {
        readLast: async (stream) => {
          if (broken) throw new Error('no route');
          return log.readLast(stream);
        },
      }),
  });
  await writing.write(create(body()));
  broken = true;
  for (const command of [
    merge({}),
    remove({}, 'none'),
    create(body()),
    create(body({ metadata: { name: 'w2' }, spec: { title: 'One', serial: 's' } })),
  ]) {
    t.match(await writing.write(command), { ok: false, rejection: { reason: 'unavailable', retryAfterSeconds: 1 } });
  }
  broken = false;
  t.equal(verdict(await writing.write(merge({}))), 'ok');
});

test('a closed log makes writes unavailable', async (t) => {
  const writing = await Writing.open(t);
  await writing.write(create(body()));
  await writing.log.close();
  for (const command of [merge({}), merge({ spec: { title: 'Two' } }), create(body({ metadata: { name: 'w2' } }))])
    t.equal(verdict(await writing.write(command)), 'unavailable');
});

test('a corrupt log is a server error, not a refusal', async (t) => {
  const writing = await Writing.open(t, {
    through: (log) =>
      altered(log, {
        readLast: async () => {
          throw new LogCorruptError('a record');
        },
      }),
  });
  await t.rejects(writing.write(remove({}, 'none')), LogCorruptError);
});

test('writes beyond the limit in flight are refused, and accepted again once some are done', async (t) => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const writing = await Writing.open(t, {
    through: (log) =>
      altered(log, {
        append: async (...call) => {
          await gate;
          return log.append(...call);
        },
      }),
  });
  const named = (place: number) => create(body({ metadata: { name: `w${String(place)}` } }));
  const waiting = writing.race(Array.from({ length: writesInFlightMax }, (_, index) => named(index)));
  await nextTurn();
  t.match(await writing.write(named(writesInFlightMax)), {
    ok: false,
    rejection: { reason: 'too-many-requests', retryAfterSeconds: 1 },
  });
  open();
  t.strictSame(tally(await waiting), { ok: writesInFlightMax });
  t.equal(verdict(await writing.write(named(writesInFlightMax))), 'ok');
  t.equal(writing.models.count(widgets.key), writesInFlightMax + 1);
});

test('a refused write releases its slot at once', async (t) => {
  const writing = await Writing.open(t);
  for (let index = 0; index < writesInFlightMax + 10; index += 1) {
    if (
      verdict(
        await writing.execute(widgets, create({}), {
          cause: metadata,
          dryRun: false,
          fieldValidation: undefined,
          origin: 'client',
          subject: { kind: 'platform', part: 'test' },
        }),
      ) !== 'invalid'
    )
      t.fail('not taken');
  }
  t.equal(verdict(await writing.write(create(body()))), 'ok');
  t.equal((await writing.log.readLast(streamOf('w1')))?.revision, 0);
});
