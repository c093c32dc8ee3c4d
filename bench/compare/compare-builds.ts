import type { Bench } from '../bench.ts';
import type { LoadPlan, LoadResult } from '../load/http-load.ts';
import type { RequestTemplate } from '../load/template.ts';
import { watchPlan } from '../measures/watch/watch-fan-out.ts';
import type { Result } from '../result.ts';
import { median } from '../rounds.ts';
import { expect, expectTotal, send } from '../subject/client.ts';
import { headers, type Subject } from '../subject/server.ts';
import { createRequest, widgetsPath } from '../subject/widgets.ts';
import type { EarlierBuild } from './earlier-build.ts';
import { comparedRounds, roundRatioMin, slowerRounds } from './slower.ts';

const listed = 500;
const watchers = 200;

type Load = { readonly name: string; readonly unit: string; readonly rate: (build: MeasuredBuild) => Promise<number> };

const loads: readonly Load[] = [
  { name: 'GET one object', unit: '/s', rate: async (build) => build.gets() },
  { name: 'LIST 500 objects', unit: '/s', rate: async (build) => build.lists() },
  { name: 'POST create', unit: '/s', rate: async (build) => build.creates() },
  { name: 'watch', unit: 'deliveries/s', rate: async (build) => build.deliveries() },
];

type Rates = { readonly present: number; readonly earlier: number };

/**
 * Compares this build with an earlier build in interleaved rounds. Each round starts two new processes, because two
 * processes of the same build may differ in speed. The build that is loaded first alternates.
 */
export async function compareBuilds(bench: Bench, build: EarlierBuild): Promise<readonly Result[]> {
  const rounds = bench.isQuick ? 2 : comparedRounds;
  const rates = new Map<string, Rates[]>(loads.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    await bench.withSubject(bench.newDataDir(), async (present) =>
      bench.withSubject(bench.newDataDir(), async (earlier) => runRound(bench, { present, earlier, round, rates }), {
        program: build.program,
      }),
    );
  }
  return loads.map(({ name, unit }) => resultOf(`${name}, against ${build.name}`, unit, rates.get(name) ?? []));
}

async function runRound(
  bench: Bench,
  {
    present,
    earlier,
    round,
    rates,
  }: { present: Subject; earlier: Subject; round: number; rates: ReadonlyMap<string, Rates[]> },
): Promise<void> {
  const pair = { present: new MeasuredBuild(bench, present), earlier: new MeasuredBuild(bench, earlier) };
  await pair.earlier.prepare();
  await pair.present.prepare();
  for (const { name, rate } of loads) {
    if (round % 2 === 0) {
      const before = await rate(pair.earlier);
      rates.get(name)?.push({ earlier: before, present: await rate(pair.present) });
    } else {
      const now = await rate(pair.present);
      rates.get(name)?.push({ present: now, earlier: await rate(pair.earlier) });
    }
  }
  await pair.earlier.check();
  await pair.present.check();
}

function resultOf(measure: string, unit: string, rates: readonly Rates[]): Result {
  const ratios = rates.map(({ present, earlier }) => present / earlier);
  const values = rates.map(({ present }) => present);
  return {
    measure,
    unit,
    value: median(values),
    spread: [Math.min(...values), Math.max(...values)],
    baseline: median(rates.map(({ earlier }) => earlier)),
    ratio: median(ratios),
    ratios,
    floor: roundRatioMin,
    bound: 'rounds at least',
    note: `${slowerRounds(ratios).toString()} of ${ratios.length.toString()} rounds are below`,
  };
}

/** The loads of one server process. */
class MeasuredBuild {
  readonly #bench: Bench;
  readonly #url: string;
  #made = 0;

  constructor(bench: Bench, { url }: Subject) {
    this.#bench = bench;
    this.#url = url;
  }

  /** Creates the listed objects, and warms up the code of each load. */
  async prepare(): Promise<void> {
    await this.#create({ connections: 16, requests: listed });
    await this.gets();
    await this.lists();
  }

  gets(): Promise<number> {
    return this.#read(`${widgetsPath}/b-0`, { connections: 64, requests: this.#bench.scaled(20_000) });
  }

  lists(): Promise<number> {
    return this.#read(`${widgetsPath}?limit=${listed.toString()}`, {
      connections: 16,
      requests: this.#bench.scaled(1_500),
    });
  }

  async creates(): Promise<number> {
    return (await this.#create({ connections: 64, requests: this.#bench.scaled(10_000) })).perSecond;
  }

  async deliveries(): Promise<number> {
    const requests = this.#bench.scaled(500);
    const plan = { connections: 16, status: 201, warmUp: 0, requests };
    const load = { url: this.#url, request: createRequest('b'), first: this.#made, ...plan };
    this.#made += requests;
    const watch = await watchPlan(this.#url, watchers);
    return (await this.#bench.loader.watch({ ...watch, changes: { kind: 'closed-loop', load } })).perSecond;
  }

  check(): Promise<void> {
    return expectTotal(this.#url, this.#made);
  }

  async #read(path: string, load: { connections: number; requests: number }): Promise<number> {
    const { length } = await send(this.#url, 'GET', path);
    const request: RequestTemplate = { method: 'GET', path, headers };
    const result = await this.#bench.loader.http({ url: this.#url, request, status: 200, warmUp: 200, ...load });
    expect('bytes of all responses', result.bodyBytes, load.requests * length);
    return result.perSecond;
  }

  async #create(load: Pick<LoadPlan, 'connections' | 'requests'>): Promise<LoadResult> {
    const plan = { url: this.#url, request: createRequest('b'), status: 201, warmUp: 0, first: this.#made };
    const result = await this.#bench.loader.http({ ...plan, ...load });
    this.#made = result.next;
    return result;
  }
}
