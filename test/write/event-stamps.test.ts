/** Which clock is used, and times written by a wrong one. */
import { test } from 'tap';

import { EventTimes } from '../../projections/event-times.ts';
import { eventSchema } from '../../src/command/event.ts';
import { clockDifferenceMsMax } from '../../src/limits/log.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { ServerTime } from '../../src/log/eventstore/eventstore-time.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';
import { ClockAgreement } from '../../src/write/clock-agreement.ts';
import { EventStamps } from '../../src/write/event-stamps.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { created } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';

const start = Date.UTC(2026, 0, 1);

/** An event of that time. */
function at(timeMs: number): RecordedEvent {
  const time = new Date(timeMs).toISOString();
  const metadata = { actor: 'test', verb: 'create', requestId: 'r', time, schema: eventSchema, $correlationId: 'r' };
  const place = {
    stream: streamName('object:w/w1'),
    revision: streamRevision(0),
    position: logPosition(1n),
    endsAppend: true,
  };
  return { ...encodeEvent(idOf(time), created(), metadata), ...place };
}

test("a clock is wrong when it is more than a minute off the log's, either way, and not at a minute", async (t) => {
  const clock = new FakeClock();
  let logMs: number | undefined;
  const agreement = new ClockAgreement(clock, { time: () => logMs });
  t.equal(agreement.problem(), undefined, 'not known yet');
  for (const sign of [1, -1]) {
    logMs = start + sign * clockDifferenceMsMax;
    t.equal(agreement.problem(), undefined);
    logMs += sign;
    t.match(agreement.problem(), sign > 0 ? /is 60 s behind the event log's/u : /is 60 s ahead of the event log's/u);
  }
  t.equal(new ClockAgreement(clock).problem(), undefined, 'a log without a clock');
});

test("the server's clock is known from its first append on, and continues without the wall clock", async (t) => {
  const clock = new FakeClock();
  const time = new ServerTime(clock);
  time.seen(start);
  t.equal(time.now(), undefined, "others' events may be of any age");
  const sentMs = clock.monotonic();
  clock.advance(100);
  time.own(start + 5_000, sentMs);
  t.equal(time.now(), start + 5_000, 'at least, as it was written before it was read');
  clock.jump(5_050 - 100);
  t.equal(time.now(), clock.now(), 'what the wall clock says can be');
  clock.jump(86_400_000);
  t.equal(time.now(), start + 5_100, 'at most');
  clock.advance(10_000);
  t.equal(time.now(), start + 15_100);
  time.seen(start + 3_600_000);
  t.equal(time.now(), start + 3_600_000, 'the monotonic clock stood still meanwhile');
  time.seen(start);
  t.equal(time.now(), start + 3_600_000);
});

test('an event a minute ahead is followed, a later one is not, and is reported', async (t) => {
  const clock = new FakeClock();
  const agreement = new ClockAgreement(clock);
  const times = new EventTimes(0, () => agreement.latest());
  const stamps = new EventStamps({ clock, lastEventTime: () => times.lastMs(), agreement });
  const fold = (...events: readonly RecordedEvent[]): void => {
    const batch = times.begin();
    for (const event of events) batch.take(event);
    times.keep(batch);
  };
  fold(at(start - 5_000), at(start + clockDifferenceMsMax + 1), at(start + 3 * 86_400_000));
  t.equal(times.lastMs(), start - 5_000);
  t.equal(times.strayMs(), start + 3 * 86_400_000);
  t.equal(Date.parse(stamps.next()), start);
  fold(at(start + clockDifferenceMsMax));
  t.equal(times.strayMs(), undefined);
  t.equal(Date.parse(stamps.next()), start + clockDifferenceMsMax);
  clock.jump(-3_600_000);
  t.equal(Date.parse(stamps.next()), start - 3_600_000, 'the clock was ahead, and was set right');
  fold(at(start - 3_600_000));
  t.equal(times.lastMs(), start - 3_600_000);
  t.equal(times.strayMs(), start + clockDifferenceMsMax, 'the times set by the wrong clock are reported');
});
