import { koaEcho } from '../../baselines/baseline.ts';
import type { Bench, Measure } from '../../bench.ts';
import type { LoadResult } from '../../load/http-load.ts';
import type { Result } from '../../result.ts';
import { compare, median } from '../../rounds.ts';
import { expectTotal } from '../../subject/client.ts';
import type { Subject } from '../../subject/server.ts';
import { canReadUsage, usageOf } from '../../subject/usage.ts';
import { createRequest } from '../../subject/widgets.ts';

const warmUp = 500;

/** POST of new objects, each durable before the response, against Koa, which parses and returns the same JSON. */
export const create: Measure = {
  name: 'create',
  run: async (bench) => [
    ...(await measure(bench, 64)),
    ...(await measure(bench, 256)),
    ...(await measureSerial(bench)),
  ],
};

async function measure(bench: Bench, connections: number): Promise<readonly Result[]> {
  return bench.withSubject(bench.newDataDir(), async (subject) => {
    const requests = bench.scaled(20_000);
    const creates = new Creates(bench, subject, connections, requests);
    const baseline = await koaEcho();
    const loadBaseline = async (): Promise<number> => {
      const result = await bench.loader.http({
        url: baseline.url,
        request: createRequest('c'),
        connections,
        status: 201,
        warmUp,
        requests,
      });
      return result.perSecond;
    };
    const comparison = await compare(bench.rounds, loadBaseline, creates.load);
    baseline.close();
    const cpu = creates.cpu();
    const name = `POST create, ${connections.toString()} connections`;
    await expectTotal(subject.url, creates.made);
    return [
      { measure: name, unit: '/s', ...comparison, floor: 0.7 },
      {
        measure: `${name}: CPU`,
        value: cpu,
        unit: 's per 1,000',
        floor: 0.26,
        bound: 'value at most',
        note: 'all threads of the server',
      },
    ];
  });
}

/** Creates objects with new names on one server, round after round. */
class Creates {
  made = 0;
  readonly #bench: Bench;
  readonly #subject: Subject;
  readonly #plan: { readonly connections: number; readonly requests: number };
  readonly #cpu: number[] = [];

  constructor(bench: Bench, subject: Subject, connections: number, requests: number) {
    this.#bench = bench;
    this.#subject = subject;
    this.#plan = { connections, requests };
  }

  readonly load = async (): Promise<number> => {
    const plan = { ...this.#plan, request: createRequest('c'), first: this.made };
    const { result, cpuSeconds } = await loadWithUsage(this.#bench, this.#subject, plan);
    this.made = result.next;
    this.#cpu.push((cpuSeconds / this.#plan.requests) * 1_000);
    return result.perSecond;
  };

  /** The CPU seconds for 1,000 creates, over all threads. The first round is a warm-up and is not included. */
  cpu(): number {
    return median(this.#cpu.slice(1));
  }
}

async function loadWithUsage(
  bench: Bench,
  subject: Subject,
  plan: { request: ReturnType<typeof createRequest>; connections: number; requests: number; first: number },
): Promise<{ readonly result: LoadResult; readonly cpuSeconds: number }> {
  let before = 0;
  let after = 0;
  const note = (phase: string): void => {
    if (!canReadUsage) return;
    if (phase === 'begin') before = usageOf(subject.pid).cpuSeconds;
    else after = usageOf(subject.pid).cpuSeconds;
  };
  const result = await bench.loader.http({ url: subject.url, status: 201, warmUp, ...plan }, note);
  return { result, cpuSeconds: canReadUsage ? after - before : Number.NaN };
}

/** Measures creates with a unique value, which costs one more append. */
async function measureSerial(bench: Bench): Promise<readonly Result[]> {
  return bench.withSubject(bench.newDataDir(), async ({ url }) => {
    const requests = bench.scaled(20_000);
    const result = await bench.loader.http({
      url,
      request: createRequest('u', { serial: true }),
      connections: 64,
      status: 201,
      warmUp,
      requests,
    });
    await expectTotal(url, result.next);
    return [
      {
        measure: 'POST create, unique serial',
        value: result.perSecond,
        unit: '/s',
        note: `64 connections, p99 ${result.p99Ms.toFixed(1)} ms`,
      },
    ];
  });
}
