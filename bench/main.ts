import { mkdirSync, readFileSync } from 'node:fs';

import { measureAgainst } from './against/against.ts';
import { TypeMissingError } from './against/kubernetes-server.ts';
import { definitionOf } from './against/measured-object.ts';
import { decodeArguments, type BenchArguments } from './arguments.ts';
import { Bench } from './bench.ts';
import type { Measure } from './bench.ts';
import { compareBuilds } from './compare/compare-builds.ts';
import { earlierBuild } from './compare/earlier-build.ts';
import { auditReplay } from './measures/audit-replay.ts';
import { auditList } from './measures/audit/audit-list.ts';
import { getAt } from './measures/audit/get-at.ts';
import { listAt } from './measures/audit/list-at.ts';
import { auditTree } from './measures/audit/audit-tree.ts';
import { check100k } from './measures/plugins/check-100k.ts';
import { collect100k } from './measures/writes/collect-100k.ts';
import { createAlone } from './measures/writes/create-alone.ts';
import { create } from './measures/writes/create.ts';
import { consoleInBrowser } from './measures/console/console.ts';
import { createChecked } from './measures/plugins/create-checked.ts';
import { decision } from './measures/decision.ts';
import { deletion } from './measures/writes/delete.ts';
import { eventStoreCatchUp } from './measures/eventstore/eventstore-catch-up.ts';
import { eventStoreCreate } from './measures/eventstore/eventstore-create.ts';
import { eventStoreReads } from './measures/eventstore/eventstore-reads.ts';
import { generator } from './measures/generator.ts';
import { getOne } from './measures/get-one.ts';
import { getTls } from './measures/get-tls.ts';
import { getWithRoles } from './measures/get-with-roles.ts';
import { hostile } from './measures/hostile.ts';
import { informer100k } from './measures/watch/informer-100k.ts';
import { discovery } from './measures/kubernetes/discovery.ts';
import { list100k } from './measures/scale/list-100k.ts';
import { list500 } from './measures/list-500.ts';
import { tenMillion } from './measures/scale/ten-million.ts';
import { memory100k } from './measures/scale/memory-100k.ts';
import { pageMillion } from './measures/scale/page-million.ts';
import { reconcile } from './measures/reconcile.ts';
import { migrate100k } from './measures/plugins/migrate-100k.ts';
import { pluginStart } from './measures/plugins/plugin-start.ts';
import { restartMillion } from './measures/scale/restart-million.ts';
import { history } from './measures/history.ts';
import { table500 } from './measures/table-500.ts';
import { update } from './measures/writes/update.ts';
import { versions } from './measures/versions.ts';
import { verifyExport } from './measures/audit/verify-export.ts';
import { versionIndex } from './measures/audit/version-index.ts';
import { watchFanOut } from './measures/watch/watch-fan-out.ts';
import { watchSelectors } from './measures/watch/watch-selectors.ts';
import { watchLatency } from './measures/watch/watch-latency.ts';
import { isMissed, printJson, printText } from './result.ts';

const measures: readonly Measure[] = [
  generator,
  decision,
  reconcile,
  deletion,
  collect100k,
  getOne,
  getTls,
  discovery,
  getWithRoles,
  create,
  createAlone,
  createChecked,
  update,
  list500,
  table500,
  versions,
  history,
  watchFanOut,
  watchLatency,
  watchSelectors,
  memory100k,
  list100k,
  informer100k,
  pluginStart,
  check100k,
  migrate100k,
  restartMillion,
  auditReplay,
  getAt,
  listAt,
  auditTree,
  auditList,
  versionIndex,
  verifyExport,
  pageMillion,
  tenMillion,
  hostile,
  consoleInBrowser,
  eventStoreCreate,
  eventStoreCatchUp,
  eventStoreReads,
];

/** The exit code is 1 if a figure misses its floor or a measure fails. */
async function main(): Promise<void> {
  const args = decodeArguments(process.argv.slice(2));
  if (args.kind === 'definition') {
    process.stdout.write(definitionOf(args.resource));
    return;
  }
  const wanted = measuresOf(args);
  if (args.profileDir !== undefined) mkdirSync(args.profileDir, { recursive: true });
  const bench = new Bench(args);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void bench.close().then(() => process.exit(130));
    });
  let short = 0;
  try {
    for (const measure of wanted) short += await run(measure, bench, args.json ? printJson : printText);
  } finally {
    await bench.close();
  }
  if (short > 0) console.error(`${short.toString()} figures missed their floors or failed`);
  process.exitCode = short > 0 ? 1 : 0;
}

function measuresOf(args: Exclude<BenchArguments, { kind: 'definition' }>): readonly Measure[] {
  if (args.kind === 'against') {
    const { url, token, caFile, path } = args;
    const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
    const address = { url, ca, authorization: `Bearer ${token}`, path };
    return [{ name: 'against', run: async (bench) => measureAgainst(bench, address) }];
  }
  if (args.kind === 'compare') {
    const build = earlierBuild(args.build);
    return [{ name: 'compare', run: async (bench) => compareBuilds(bench, build) }];
  }
  const { only } = args;
  if (only === undefined) return measures.filter(({ isOnDemand = false }) => !isOnDemand);
  const unknown = only.find((wanted) => !measures.some(({ name }) => name === wanted));
  if (unknown !== undefined)
    throw new RangeError(
      `${JSON.stringify(unknown)} is no measure; --only accepts ${measures.map(({ name }) => name).join(', ')}`,
    );
  return measures.filter(({ name }) => only.includes(name));
}

/** Runs a measure. Returns the number of figures that miss their floor; 1 if the measure fails. */
async function run(measure: Measure, bench: Bench, print: typeof printText): Promise<number> {
  try {
    const results = await measure.run(bench);
    for (const result of results) print(result, bench.isQuick);
    return results.filter((result) => isMissed(result, bench.isQuick)).length;
  } catch (error) {
    // Only the definition is written to standard output, so that the output can be piped to kubectl.
    if (error instanceof TypeMissingError) process.stdout.write(error.definition);
    console.error(`FAILED ${measure.name}: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
