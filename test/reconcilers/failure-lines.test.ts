import { test } from 'tap';

import { FailureLines } from '../../reconcilers/failure-lines.ts';
import {
  reconcileFailuresKnownMax,
  reconcileFailureReportMs,
  reconcileLinesPerSecondMax,
} from '../../reconcilers/reconcile-limits.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

function stage(): {
  readonly clock: FakeClock;
  readonly lines: (readonly [message: string, fields: Readonly<Record<string, unknown>>])[];
  readonly failed: (key: string, attempts: number) => number;
} {
  const clock = new FakeClock();
  const lines: (readonly [string, Readonly<Record<string, unknown>>])[] = [];
  const failures = new FailureLines(clock, (message, fields) => {
    lines.push([message, fields]);
  });
  const failed = (key: string, attempts: number): number => {
    const before = lines.length;
    failures.failed('failed', { key, attempts }, () => ({ key, attempts }));
    return lines.length - before;
  };
  return { clock, lines, failed };
}

test('of failures in a row the first, second, fourth, eighth … are logged', async (t) => {
  const { clock, lines, failed } = stage();
  for (let attempts = 1; attempts <= 100; attempts += 1) {
    failed('a', attempts);
    clock.advance(30_000);
  }
  t.strictSame(
    lines.map(([, { attempts }]) => attempts),
    [1, 2, 4, 8, 16, 32, 64],
  );
});

test('an intermittent failure is logged once a minute, and then from the start', async (t) => {
  const { clock, failed } = stage();
  t.equal(failed('a', 1), 1);
  for (let again = 0; again < 59; again += 1) {
    clock.advance(1_000);
    t.equal(failed('a', 1), 0);
  }
  t.equal(failed('b', 1), 1, 'another key is logged at once');
  clock.advance(reconcileFailureReportMs - 59_000);
  t.equal(failed('a', 1), 1);
  t.equal(failed('a', 2), 1, 'it goes on: as any that fails in a row');
});

test('of many keys a few lines a second are logged, and the next line counts the omitted ones', async (t) => {
  const { clock, lines, failed } = stage();
  for (let key = 0; key < reconcileFailuresKnownMax * 2; key += 1) failed(`k-${String(key)}`, 1);
  t.equal(lines.length, reconcileLinesPerSecondMax);
  clock.advance(1_000);
  failed('another', 1);
  t.strictSame(lines.at(-1)?.[1], {
    key: 'another',
    attempts: 1,
    leftOut: reconcileFailuresKnownMax * 2 - reconcileLinesPerSecondMax,
  });
  clock.advance(1_000);
  t.equal(failed('k-0', 1), 1, 'only the last logged keys are remembered');
});
