import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { RequestCounts } from '../../../src/http/metrics/samples/request-counts.ts';
import { Samples } from '../../../src/http/metrics/samples/samples.ts';
import { sampleMs, samplesMax } from '../../../src/limits/requests.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

function given() {
  const clock = new FakeClock();
  const requests = new RequestCounts();
  const now = { position: 0n, folded: 0, head: async () => Promise.resolve(0n), watchers: 0, queue: 0, delay: NaN };
  const samples = new Samples(clock, {
    position: () => now.position,
    folded: () => now.folded,
    head: async () => now.head(),
    requests,
    watchers: () => now.watchers,
    reconcilerQueue: () => now.queue,
    memory: () => ({ rss: 1_000, heapUsed: 500 }),
    eventLoopDelayMs: () => now.delay,
  });
  return { clock, requests, now, samples };
}

test('a sample has rates since the last sample, and the values of its time', async (t) => {
  const { clock, requests, now, samples } = given();
  requests.answered(200, 5);
  now.folded = 1_000;
  samples.start();
  t.strictSame(samples.columns().time, []);
  now.folded = 1_050;
  now.position = 2n ** 64n;
  now.head = async () => Promise.resolve(2n ** 64n + 3n);
  now.watchers = 7;
  now.queue = 2;
  for (let request = 0; request < 99; request += 1) requests.answered(200, 1);
  requests.answered(500, 1_000);
  requests.answered(404, undefined);
  clock.advance(sampleMs);
  await nextTurn();
  const { time, position, values, intervalMs } = samples.columns();
  t.strictSame([time, position, intervalMs], [[clock.now()], ['18446744073709551616'], sampleMs]);
  t.match(values, {
    eventsPerSecond: [5],
    lag: [3],
    requests2xxPerSecond: [9.9],
    requests3xxPerSecond: [0],
    requests4xxPerSecond: [0.1],
    requests5xxPerSecond: [0.1],
    watchers: [7],
    reconcilerQueue: [2],
    rssBytes: [1_000],
    heapUsedBytes: [500],
    eventLoopDelayP99Ms: [null],
  });
  const [p50 = 0] = values['latencyP50Ms'] ?? [];
  const [p99 = 0] = values['latencyP99Ms'] ?? [];
  t.ok(p50 !== null && p50 >= 1 && p50 <= 1.19, String(p50));
  t.ok(p99 !== null && p99 >= 1 && p99 <= 1.19, String(p99));
  clock.advance(sampleMs);
  t.match(samples.columns().values, { eventsPerSecond: [5, 0], latencyP99Ms: [p99, null], lag: [3, null] });
  samples.stop();
  t.equal(clock.timers, 0);
});

test('the ring keeps the last hour, the oldest sample first', async (t) => {
  const { clock, now, samples } = given();
  samples.start();
  for (let sample = 1; sample <= samplesMax + 5; sample += 1) {
    now.watchers = sample;
    clock.advance(sampleMs);
  }
  const { time, position, values } = samples.columns();
  for (const column of [time, position, ...Object.values(values)]) t.equal(column.length, samplesMax);
  t.strictSame([values['watchers']?.[0], values['watchers']?.at(-1)], [6, samplesMax + 5]);
  t.strictSame([time.at(-1), time[0]], [clock.now(), clock.now() - 3_590_000]);
  await nextTurn();
  t.equal(samples.columns().values['lag']?.at(-1), 0);
  samples.stop();
});

test('a late answer of the log changes only its own sample', async (t) => {
  const { clock, now, samples } = given();
  let answer: (head: bigint) => void = () => undefined;
  now.head = async () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  samples.start();
  clock.advance(sampleMs);
  const late = answer;
  now.head = async () => Promise.reject(new Error('the log is away'));
  clock.advance(sampleMs);
  late(4n);
  await nextTurn();
  t.strictSame(samples.columns().values['lag'], [4, null]);
  for (let sample = 0; sample < samplesMax; sample += 1) clock.advance(sampleMs);
  await nextTurn();
  t.ok(samples.columns().values['lag']?.every((lag) => lag === null));
  samples.stop();
});

test('latencies are rounded up by at most a fifth, and bounded', (t) => {
  const requests = new RequestCounts();
  t.strictSame(requests.takeLatencies([0.5]), [NaN]);
  for (const ms of [0, 0.1, 0.3, 1, 2, 17, 999, 50_000]) {
    requests.answered(200, ms);
    const [shown = NaN] = requests.takeLatencies([0.5]);
    t.ok(shown >= ms * 0.999 && shown <= Math.max(ms, 0.1) * 1.2, `${String(ms)} ${String(shown)}`);
  }
  requests.answered(200, 1e9);
  t.ok((requests.takeLatencies([0.99])[0] ?? NaN) > 80_000);
  t.end();
});
