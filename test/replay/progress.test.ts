/** The progress of a replay names the step, also when the step reads no events. */
import { test } from 'tap';

import { replayReportMs } from '../../src/limits/replay.ts';
import { logPosition } from '../../src/log/log.ts';
import { NotHeldError } from '../../src/server/replay/check-memory.ts';
import { PolledWork } from '../../src/server/replay/polled-work.ts';
import { ReplayProgress } from '../../src/server/replay/replay-progress.ts';
import type { ReplayMessage } from '../../src/server/replay/replay-task.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

test('each new step of a long replay is reported at once, and the same step now and then', async (t) => {
  const posted: ReplayMessage[] = [];
  let now = 0;
  const ports = { post: (message: ReplayMessage) => posted.push(message), isStopped: () => false };
  const task = { dir: t.testdir(), reserveBytes: 0 };
  const progress = new ReplayProgress(task, ports, { monotonic: () => now });
  const until = { until: logPosition(200n), epoch: 0 };
  progress.fold({ position: logPosition(10n), events: 9 }, until);
  progress.advance('writing', { done: 0, all: 1 });
  t.strictSame(posted, [], 'a short replay has no progress');
  now += replayReportMs;
  progress.fold({ position: logPosition(200n), events: 150 }, until);
  progress.advance('writing', { done: 1, all: 3 });
  progress.advance('writing', { done: 2, all: 3 });
  progress.advance('comparing', { done: 0, all: 3 });
  progress.advance('comparing', { done: 1, all: 3 });
  now += replayReportMs;
  progress.advance('comparing', { done: 2, all: 3 });
  const folded = { kind: 'progress', position: '200', events: 150 };
  t.strictSame(posted, [
    { ...folded, step: 'replaying', percent: 100 },
    { ...folded, step: 'writing', percent: 33 },
    { ...folded, step: 'comparing', percent: 0 },
    { ...folded, step: 'comparing', percent: 66 },
  ]);
});

test('work in the thread of the server yields its progress, and then its result', async (t) => {
  const clock = new FakeClock();
  let end: (result: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const work = new PolledWork(async (onProgress) => {
    onProgress(40);
    return ended;
  }, clock);
  const steps = work.result();
  const first = steps.next();
  clock.advance(replayReportMs);
  t.strictSame(await first, { done: false, value: 40 });
  const last = steps.next();
  end('compared');
  t.strictSame(await last, { done: true, value: 'compared' });
  const failing = new PolledWork(() => Promise.reject(new Error('no disk')), clock);
  await t.rejects(failing.result().next(), new NotHeldError('no disk'));
});
