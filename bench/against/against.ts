import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Bench } from '../bench.ts';
import type { LoadPlan, LoadResult } from '../load/http-load.ts';
import type { WatchPlan, WatchResult } from '../load/watch-load.ts';
import type { Result } from '../result.ts';
import { compare } from '../rounds.ts';
import { expect } from '../subject/client.ts';
import { authorization } from '../subject/server.ts';
import { widgetsPath } from '../subject/widgets.ts';
import { KubernetesServer, type ServerAddress } from './kubernetes-server.ts';
import { measuredObject } from './measured-object.ts';

const connections = 64;
const listed = 500;

type Pair = { readonly own: KubernetesServer; readonly other: KubernetesServer };

/**
 * Applies the same load, in turns, to another server and to a new server of this build. Each ratio is the figure of
 * this build, divided by the figure of the other server. Checks the results on both servers, and then deletes the
 * objects on the other server.
 */
export async function measureAgainst(bench: Bench, address: ServerAddress): Promise<readonly Result[]> {
  const other = new KubernetesServer(address);
  await other.check();
  const isSecure = address.url.startsWith('https:');
  const dataDir = bench.newDataDir();
  return bench.withSubject(
    dataDir,
    async ({ url }) => {
      const ca = isSecure ? readFileSync(join(dataDir, 'tls', 'ca.crt'), 'utf8') : undefined;
      const own = new KubernetesServer({ url, ca, authorization, path: widgetsPath });
      try {
        return await measurePair(bench, { own, other });
      } finally {
        await other.removeAll();
      }
    },
    { settings: isSecure ? { TLS: 'auto' } : {} },
  );
}

async function measurePair(bench: Bench, { own, other }: Pair): Promise<readonly Result[]> {
  const loads = { own: new ServerLoads(bench, own), other: new ServerLoads(bench, other) };
  for (const load of [loads.own, loads.other]) await load.prepare();
  const results: Result[] = [];
  const add = async (
    measure: string,
    unit: string,
    run: (load: ServerLoads) => Promise<number>,
    rounds = bench.rounds,
  ): Promise<void> => {
    const comparison = await compare(
      rounds,
      () => run(loads.other),
      () => run(loads.own),
    );
    results.push({ measure, unit, ...comparison, note: other.target.url });
  };
  await add('LIST 500 objects', '/s', (load) => load.lists());
  await add('GET one object, 64 connections', '/s', (load) => load.gets());
  await add('PUT with a resourceVersion, 64', '/s', (load) => load.updates());
  await add('POST create, 64 connections', '/s', (load) => load.creates());
  await add('watch: 16 writers', 'deliveries/s', async (load) => (await load.watched('closed-loop')).perSecond, 1);
  await add('watch: write sent to last, 10/s', 'ms p99', async (load) => (await load.watched('paced')).wholeP99Ms, 1);
  for (const load of [loads.own, loads.other]) await load.check();
  return results;
}

/** The load of one server. */
class ServerLoads {
  readonly #bench: Bench;
  readonly #server: KubernetesServer;
  #made = 0;
  #updates = 0;
  #versions: readonly string[] = [];

  constructor(bench: Bench, server: KubernetesServer) {
    this.#bench = bench;
    this.#server = server;
  }

  /** Creates the listed objects. */
  async prepare(): Promise<void> {
    await this.#http({ request: this.#create(), connections: 16, status: 201, warmUp: 0, requests: listed });
    expect('objects created', await this.#server.count(), listed);
    const { items } = await this.#server.list(`limit=${listed.toString()}`);
    const versions = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    this.#versions = Array.from({ length: connections }, (_, index) => versions.get(nameOf(index)) ?? '');
  }

  async lists(): Promise<number> {
    const path = `${this.#server.path}?limit=${listed.toString()}`;
    const bytes = Buffer.byteLength(await this.#server.send('GET', path));
    const request = { ...this.#server.request('GET', ''), path };
    const requests = this.#bench.scaled(2_000);
    const result = await this.#http({ request, connections: 16, status: 200, warmUp: 20, requests });
    expectBytes(result, requests * bytes);
    return result.perSecond;
  }

  async gets(): Promise<number> {
    const bytes = Buffer.byteLength(await this.#server.send('GET', `${this.#server.path}/${nameOf(0)}`));
    const requests = this.#bench.scaled(20_000);
    const request = this.#server.request('GET', nameOf(0));
    const result = await this.#http({ request, connections, status: 200, warmUp: 500, requests });
    expectBytes(result, requests * bytes);
    return result.perSecond;
  }

  /** Each connection updates its own object, with the resourceVersion of its last response as the precondition. */
  async updates(): Promise<number> {
    const places = { name: nameOf('{c}'), size: '{m}', title: 'update {n}', resourceVersion: '{v}' };
    const result = await this.#http({
      request: this.#server.request('PUT', nameOf('{c}'), measuredObject(this.#server.resource, places)),
      connections,
      status: 200,
      warmUp: 100,
      requests: this.#bench.scaled(5_000),
      first: this.#updates,
      versionsOf: this.#versions,
    });
    this.#updates = result.next;
    this.#versions = result.versionsOf;
    return result.perSecond;
  }

  async creates(): Promise<number> {
    const requests = this.#bench.scaled(5_000);
    const plan = { request: this.#create(), connections, status: 201, warmUp: 100, requests, first: this.#made };
    return (await this.#http(plan)).perSecond;
  }

  /** Creates objects while watchers are connected. Each watcher must receive every change exactly once. */
  async watched(kind: 'closed-loop' | 'paced'): Promise<WatchResult> {
    const { target, path, headers } = this.#server;
    const { metadata } = await this.#server.list('limit=1');
    const count = this.#bench.scaled(200);
    const load = { ...target, request: this.#create(), status: 201, first: this.#made };
    const changes: WatchPlan['changes'] =
      kind === 'paced'
        ? { kind, writes: { ...load, connections: 32, perSecond: 10, count } }
        : { kind, load: { ...load, connections: 16, warmUp: 0, requests: count } };
    const result = await this.#bench.loader.watch({
      ...target,
      path: `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`,
      headers,
      sockets: this.#bench.scaled(1_000),
      transport: 'lines',
      changes,
    });
    const [first = ''] = result.sample.split('\n');
    expect('type of the first change', (JSON.parse(first) as { readonly type: string }).type, 'ADDED');
    this.#made += count;
    return result;
  }

  /** Checks that all objects exist, and that each updated object has the state of its last update. */
  async check(): Promise<void> {
    expect('objects created', await this.#server.count(), this.#made);
    for (const [index, version] of this.#versions.entries()) {
      const text = await this.#server.send('GET', `${this.#server.path}/${nameOf(index)}`);
      const { metadata } = JSON.parse(text) as { readonly metadata: { readonly resourceVersion: string } };
      expect(`resourceVersion of ${nameOf(index)}`, metadata.resourceVersion, version);
    }
  }

  #create(): LoadPlan['request'] {
    const places = { name: nameOf('{n}'), size: '{m}', title: 'A widget of the measured kind, with the number {n}' };
    return this.#server.request('POST', '', measuredObject(this.#server.resource, places));
  }

  async #http(plan: Omit<LoadPlan, 'url'>): Promise<LoadResult> {
    const result = await this.#bench.loader.http({ ...this.#server.target, ...plan });
    if (plan.request.method === 'POST') this.#made = result.next;
    return result;
  }
}

/** Tolerates 8 bytes in each response: other writers may lengthen the resourceVersion of a list. */
function expectBytes({ bodyBytes, requests }: LoadResult, expected: number): void {
  const differenceMax = 8 * requests;
  const isExpected = Math.abs(bodyBytes - expected) <= differenceMax;
  if (!isExpected) expect('bytes of all responses', bodyBytes, expected);
}

function nameOf(place: number | string): string {
  return `bench-${place.toString()}`;
}
