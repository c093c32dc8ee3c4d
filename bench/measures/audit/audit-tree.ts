import { statSync } from 'node:fs';
import { join } from 'node:path';

import { AuditModels } from '../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { leafHash } from '../../../src/audit/proof/merkle.ts';
import { inclusionProof, isIncluded } from '../../../src/audit/proof/proofs.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../../src/log/log.ts';
import type { Bench, Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import type { Result } from '../../result.ts';
import { authorization, headers } from '../../subject/server.ts';
import { untilIdle } from '../../subject/usage.ts';

const batchEvents = 32;
const proofs = 20_000;
const versions = 10;

/**
 * Measures a tree of a million leaves: the CPU time that a leaf adds to the fold of its event, over all threads, and
 * the time of an inclusion proof, in this process and from a server.
 */
export const auditTree: Measure = {
  name: 'inclusion-proof',
  run: async (bench) => {
    const count = bench.scaled(1_000_000);
    return [...(await ofTables(bench, count)), await ofServer(bench, count)];
  },
};

async function ofTables(bench: Bench, count: number): Promise<readonly Result[]> {
  const without = await folded(bench, count, false);
  await without.tables.close();
  const { tables, tree, cpuUs, dir } = await folded(bench, count, true);
  const size = tree.size();
  const took: number[] = [];
  for (let place = 0; place < proofs; place += 1) {
    const index = (place * 7_919_317) % size;
    const begun = performance.now();
    inclusionProof(index, size, tree.nodeHash);
    tree.root(size);
    took.push(performance.now() - begun);
  }
  const index = size >> 1;
  const proof = inclusionProof(index, size, tree.nodeHash);
  if (!isIncluded({ leaf: tree.hashes(0, index, 1), index, size, proof, root: tree.root(size) }))
    throw new Error('the inclusion proof is invalid');
  const bytes = statSync(join(dir, 'tables.mdb')).size / count;
  await tables.close();
  took.sort((left, right) => left - right);
  const at = (share: number): number => took[Math.floor(took.length * share)] ?? 0;
  return [
    {
      measure: `the tree, for each event in batches of ${String(batchEvents)}`,
      unit: 'µs of CPU',
      value: cpuUs - without.cpuUs,
      note: `${bytes.toFixed(0)} bytes of disk per event`,
    },
    {
      measure: 'inclusion proof, in process',
      unit: 'ms p99',
      value: at(0.99),
      floor: 1,
      bound: 'value at most',
      note: `p50 ${at(0.5).toFixed(2)} ms, of ${String(size)} leaves`,
    },
  ];
}

type Folded = {
  readonly dir: string;
  readonly tables: AuditTables;
  readonly tree: TreePart;
  readonly cpuUs: number;
};

async function folded(bench: Bench, count: number, withTree: boolean): Promise<Folded> {
  const dir = bench.newDataDir();
  const tree = new TreePart(() => 0);
  const parts = withTree ? [tree] : [];
  const tables = new AuditTables(dir, parts);
  const identity = () => ({ logId: 'bench', epoch: 0 });
  const models = new AuditModels({ tables, parts, identity, clock: systemClock });
  const before = process.cpuUsage();
  for (let first = 0; first < count; first += batchEvents) models.apply(batchFrom(first));
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve({ dir, tables, tree, cpuUs: (user + system) / count });
}

/** Data and metadata with the typical size of an object's event. */
const data = Buffer.alloc(600, 'd');
const metadata = Buffer.alloc(300, 'm');

function batchFrom(first: number): readonly RecordedEvent[] {
  return Array.from({ length: batchEvents }, (_event, index) => {
    const number = first + index;
    const id = `018f3c1e-5a7b-4c1d-8e2f-${String(number).padStart(12, '0')}`;
    return {
      id,
      type: 'ObjectCreated',
      stream: streamName(`object:widgets.example.com/w${String(number)}`),
      revision: streamRevision(0),
      position: logPosition(BigInt(number) + 1n),
      data,
      metadata,
      endsAppend: true,
    };
  });
}

async function ofServer(bench: Bench, count: number): Promise<Result> {
  return bench.withSubject(await bench.seeded(count / versions, versions), async ({ url, pid }) => {
    const path = '/audit/tree/inclusion?index=';
    // At the first start, the tree is built in the background.
    let first = await fetch(`${url}${path}5`, { headers: { authorization } });
    while (first.status === 503) {
      await first.text();
      first = await fetch(`${url}${path}5`, { headers: { authorization } });
    }
    const { size, root, index, entry, hashes } = (await first.json()) as {
      readonly size: number;
      readonly root: string;
      readonly index: number;
      readonly entry: string;
      readonly hashes: readonly string[];
    };
    const proof = hashes.map((hash) => Buffer.from(hash, 'base64'));
    const leaf = leafHash(Buffer.from(entry));
    if (size < count || !isIncluded({ leaf, index, size, proof, root: Buffer.from(root, 'base64') }))
      throw new Error('the inclusion proof is invalid');
    // After a start the server compares its tree with the log, and its reconcilers visit all objects.
    await untilIdle(pid);
    const request: RequestTemplate = { method: 'GET', path: `${path}1{n}`, headers };
    const { p50Ms, p99Ms } = await bench.loader.http({
      url,
      request,
      connections: 1,
      status: 200,
      warmUp: 500,
      requests: bench.scaled(20_000),
    });
    return {
      measure: 'inclusion proof, over HTTP, one after another',
      unit: 'ms p99',
      value: p99Ms,
      floor: 1,
      bound: 'value at most',
      note: `p50 ${p50Ms.toFixed(2)} ms, of ${String(size)} leaves`,
    };
  });
}
