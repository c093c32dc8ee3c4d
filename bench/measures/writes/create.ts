import { koaEcho } from '../../baselines/baseline.ts';
import type { Bench, Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { compare } from '../../rounds.ts';
import { expectTotal } from '../../subject/client.ts';
import { createRequest } from '../../subject/widgets.ts';
import { Creates } from './creates.ts';

const warmUp = 500;

/** POST of new objects, each durable before the response, against Koa, which parses and returns the same JSON. */
export const create: Measure = {
  name: 'create',
  run: async (bench) => [
    ...(await measure(bench, 64, 0.1)),
    ...(await measure(bench, 256, 0.26)),
    ...(await measureUnique(bench)),
  ],
};

async function measure(bench: Bench, connections: number, cpuMax: number): Promise<readonly Result[]> {
  return bench.withSubject(bench.newDataDir(), async (subject) => {
    const plan = { connections, requests: bench.scaled(20_000), warmUp };
    const creates = new Creates(bench, subject, plan);
    const baseline = await koaEcho();
    const loadBaseline = async (): Promise<number> => {
      const request = createRequest('c');
      return (await bench.loader.http({ url: baseline.url, request, status: 201, ...plan })).perSecond;
    };
    const comparison = await compare(bench.rounds, loadBaseline, creates.load);
    baseline.close();
    await expectTotal(subject.url, creates.made);
    const name = `POST create, ${connections.toString()} connections`;
    return [
      { measure: name, unit: '/s', ...comparison, floor: 0.3 },
      {
        measure: `${name}: CPU`,
        value: creates.cpu(),
        unit: 's per 1,000',
        floor: cpuMax,
        bound: 'value at most',
        note: 'all threads of the server',
      },
    ];
  });
}

/** Measures creates with a unique value, which include the append of a claim, against creates without one. */
async function measureUnique(bench: Bench): Promise<readonly Result[]> {
  return bench.withSubject(bench.newDataDir(), async (subject) => {
    const plan = { connections: 64, requests: bench.scaled(20_000), warmUp };
    const without = new Creates(bench, subject, plan);
    const unique = new Creates(bench, subject, { ...plan, serial: true });
    const comparison = await compare(bench.rounds, without.load, unique.load);
    await expectTotal(subject.url, without.made + unique.made);
    const note = '64 connections; against creates without one on the same server';
    return [{ measure: 'POST create, unique value', unit: '/s', ...comparison, floor: 0.75, note }];
  });
}
