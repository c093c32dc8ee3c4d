/** Read models that fold only some events of the log contain every position up to its head. */
import { test } from 'tap';

import { ContainedPositions } from '../../projections/positions/contained-positions.ts';
import { PositionWaiters } from '../../projections/positions/position-waiters.ts';
import { logPosition, logStart, streamName, type LogPosition } from '../../src/log/log.ts';
import type { WaitOptions } from '../../src/read/objects.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { appended, proposed } from '../support/memory/log-events.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { settled } from '../support/writing.ts';

const wait: WaitOptions = { timeoutMs: 2_000 };

function given() {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const waiters = new PositionWaiters(clock);
  let folded: LogPosition = logStart;
  const models = {
    categories: ['object'],
    position: () => folded,
    reached: async (position: LogPosition, options: WaitOptions) =>
      position <= folded ? 'reached' : waiters.wait(position, options),
  } as const;
  const fold = (position: LogPosition): void => {
    folded = position;
    waiters.reached(position);
  };
  const append = async (stream: string): Promise<LogPosition> => {
    const name = streamName(stream);
    const last = await log.readLast(name);
    const event = proposed(`${stream} ${String(last?.revision)}`);
    return appended(await log.append(name, [event], last?.revision ?? 'absent')).position;
  };
  return { clock, log, contained: new ContainedPositions(log, models), fold, append };
}

test('positions of other events are contained as soon as all earlier events are folded', async (t) => {
  const { contained, fold, append } = given();
  const first = await append('object:a/1');
  const logIn = await append('access:all');
  const behind = contained.reached(logIn, wait);
  fold(first);
  t.equal(await behind, 'reached');
  t.equal(await contained.reached(await append('access:all'), wait), 'reached');
  const second = await append('object:a/1');
  t.equal(await contained.reached(logIn, wait), 'reached', 'an earlier position, although an event is not folded');
  const later = contained.reached(await append('access:all'), wait);
  fold(second);
  t.equal(await later, 'reached');
});

test('an event that is not folded in time, an end of the request, and a position beyond the log', async (t) => {
  const { clock, contained, append } = given();
  await append('object:a/1');
  const logIn = await append('access:all');
  const late = contained.reached(logIn, wait);
  const beyond = contained.reached(logPosition(logIn + 100n), wait);
  const over = new AbortController();
  const left = contained.reached(logIn, { ...wait, signal: over.signal });
  over.abort();
  t.equal(await left, 'aborted');
  t.equal(await settled(late, clock), 'timeout');
  t.equal(await settled(beyond, clock), 'timeout');
});
