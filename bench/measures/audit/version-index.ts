import { statSync } from 'node:fs';
import { join } from 'node:path';

import { AuditModels } from '../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../../src/log/log.ts';
import type { Measure } from '../../bench.ts';

const versions = 10;
const batchEvents = 64;

/**
 * Measures the version index of a million events of 100,000 objects: the whole file, including the free pages of LMDB.
 */
export const versionIndex: Measure = {
  name: 'version-index',
  run: async (bench) => {
    const objects = bench.scaled(100_000);
    const count = objects * versions;
    const dir = bench.newDataDir();
    const identity = () => ({ logId: 'bench', epoch: 0 });
    const parts = [new VersionPart({ identity })];
    const tables = new AuditTables(dir, parts);
    const models = new AuditModels({ tables, parts, identity, clock: systemClock });
    const before = process.cpuUsage();
    for (let first = 0; first < count; first += batchEvents) models.apply(batchFrom(first, { count, objects }));
    const { user, system } = process.cpuUsage(before);
    await tables.close();
    return [
      {
        measure: `version index, ${count.toLocaleString('en')} events`,
        unit: 'bytes of disk per event',
        value: statSync(join(dir, 'tables.mdb')).size / count,
        floor: 24,
        bound: 'value at most',
        note: `${((user + system) / count).toFixed(1)} µs of CPU per event, in batches of ${String(batchEvents)}`,
      },
    ];
  },
};

const none = Buffer.from('{}');

function batchFrom(
  first: number,
  { count, objects }: { readonly count: number; readonly objects: number },
): readonly RecordedEvent[] {
  return Array.from({ length: Math.min(batchEvents, count - first) }, (_event, place) => {
    const number = first + place;
    return {
      id: String(number),
      type: 'ObjectUpdated',
      stream: streamName(`object:widgets.example.com/w${String(number % objects)}`),
      revision: streamRevision(Math.floor(number / objects)),
      position: logPosition(BigInt(number) + 1n),
      data: none,
      metadata: none,
      endsAppend: true,
    };
  });
}
