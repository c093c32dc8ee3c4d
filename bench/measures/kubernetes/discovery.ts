import { Discovery } from '../../../src/http/discovery/discovery.ts';
import { ApiDocuments } from '../../../src/http/openapi/api-documents.ts';
import { media } from '../../../src/http/openapi/openapi-routes.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { compileType } from '../../../src/resource/type/type-declaration.ts';
import type { Bench, Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import type { Result } from '../../result.ts';
import { compare, median } from '../../rounds.ts';
import { expect, send } from '../../subject/client.ts';
import { manyTypes, writeManyTypes } from '../../subject/many-types.ts';
import { headers } from '../../subject/server.ts';

const typeCount = 100;
const manyTypesCount = 1_000;
/** The media type that kubectl and Argo CD request. */
const swaggerProtobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const collection = '/apis/g0.p0.example/v1/things0';

/** A document that clients request repeatedly with its entity tag. */
type Document = { readonly name: string; readonly path: string; readonly accept: string };
const documents: readonly Document[] = [
  {
    name: 'aggregated discovery',
    path: '/apis',
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  },
  { name: 'OpenAPI 2.0', path: '/openapi/v2', accept: swaggerProtobuf },
  { name: 'OpenAPI 3.1', path: '/v3/api-docs', accept: 'application/json' },
];

/** A function that builds documents again after a change of the registry. */
type Rebuild = { readonly name: string; readonly over: (registry: TypeRegistry) => () => Promise<void> };
const rebuilds: readonly Rebuild[] = [
  {
    name: 'discovery documents',
    over: (registry) => {
      const discovery = new Discovery(registry, []);
      return async () => {
        expect('the group is listed', Number(discovery.has('/apis/g0.p0.example')), 1);
        return Promise.resolve();
      };
    },
  },
  { name: 'OpenAPI documents', over: (registry) => builderOf(registry) },
];

/** Returns a function that builds all changed API documents. */
function builderOf(registry: TypeRegistry): () => Promise<void> {
  const documents = new ApiDocuments({
    registry,
    routes: { revision: () => 0, described: () => [] },
    platform: () => [],
    clock: { monotonic: () => performance.now() },
    domain: 'svc.run',
    version: '0.0.0',
    media,
  });
  return async () => {
    const [groups] = await Promise.all([
      documents.groups.get(),
      documents.swaggerProtobuf.get(),
      documents.everything.get(),
    ]);
    expect('groups with a document', groups.byKey.size, 10);
  };
}

/**
 * Measures conditional requests (`If-None-Match`) for API documents against GET of one object, and the cost of a change
 * of types. There are 100 types in ten groups.
 */
export const discovery: Measure = {
  name: 'discovery',
  run: async (bench) => {
    const folder = bench.newDataDir();
    writeManyTypes(folder, manyTypes(typeCount));
    const known = await bench.withSubject(
      bench.newDataDir(),
      async ({ url }) => {
        const spec = { replicas: 3, title: 'measured', tags: ['x'.repeat(300)] };
        await send(url, 'POST', collection, JSON.stringify({ metadata: { name: 'measured' }, spec }));
        const results: Result[] = [];
        for (const document of documents) results.push(await knownDocument(bench, url, document));
        return results;
      },
      { settings: { PLUGINS_DIRS: folder } },
    );
    const made: Result[] = [];
    for (const rebuild of rebuilds) made.push(await rebuilt(bench, rebuild));
    return [...known, ...made, await held(bench.scaled(manyTypesCount))];
  },
};

/** The rate of responses with status 304, against the rate of responses with one object. */
async function knownDocument(bench: Bench, url: string, { name, path, accept }: Document): Promise<Result> {
  const answer = await fetch(url + path, { headers: { ...headers, Accept: accept } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const etag = answer.headers.get('etag') ?? '';
  expect(`types in ${name}`, new Set(bytes.toString().match(/"kind":"Thing\d+"/gu)).size, typeCount);
  const object: RequestTemplate = { method: 'GET', path: `${collection}/measured`, headers };
  const conditional = { ...headers, Accept: accept, 'If-None-Match': etag };
  const document: RequestTemplate = { method: 'GET', path, headers: conditional };
  const requests = bench.scaled(40_000);
  const load = async (request: RequestTemplate, status: number): Promise<number> =>
    (await bench.loader.http({ url, request, connections: 64, status, warmUp: 500, requests })).perSecond;
  const comparison = await compare(
    bench.rounds,
    () => load(object, 200),
    () => load(document, 304),
  );
  const note = `${bytes.length.toLocaleString('en')} bytes in a full response`;
  return { measure: `304 for ${name}, ${String(typeCount)} types`, unit: '/s', ...comparison, floor: 0.7, note };
}

async function rebuilt(bench: Bench, { name, over }: Rebuild): Promise<Result> {
  const { registry, keys } = registryOf(typeCount);
  const make = over(registry);
  const costs: number[] = [];
  for (let round = 0; round < bench.rounds * 20; round += 1) {
    registry.serve(keys[round % keys.length]!);
    const began = performance.now();
    await make();
    costs.push(performance.now() - began);
  }
  return {
    measure: `${name}, rebuilt, ${String(typeCount)} types`,
    value: median(costs),
    unit: 'ms',
    floor: 50,
    bound: 'value at most',
    spread: [Math.min(...costs), Math.max(...costs)],
    note: `the first: ${(costs[0] ?? Number.NaN).toFixed(1)} ms`,
  };
}

/** The longest block of the event loop while all API documents of many types are built. */
async function held(count: number): Promise<Result> {
  const build = builderOf(registryOf(count).registry);
  let [longest, last, isBuilding] = [0, performance.now(), true];
  const turns = (async () => {
    while (isBuilding) {
      await new Promise(setImmediate);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
  })();
  const began = performance.now();
  await build();
  const note = `built in ${(performance.now() - began).toFixed(0)} ms`;
  isBuilding = false;
  await turns;
  const measure = `OpenAPI documents built, ${count.toLocaleString('en')} types: longest hold`;
  return { measure, value: longest, unit: 'ms', floor: 50, bound: 'value at most', note };
}

function registryOf(count: number): { readonly registry: TypeRegistry; readonly keys: readonly TypeKey[] } {
  const registry = new TypeRegistry();
  const keys = manyTypes(count).map((declaration) => {
    const compiled = compileType(declaration, { plugin: 'many', bundled: false, domain: 'svc.run' });
    if (!compiled.ok) throw new Error(compiled.problems.join());
    registry.register(compiled.type);
    registry.serve(compiled.type.key);
    return compiled.type.key;
  });
  return { registry, keys };
}
