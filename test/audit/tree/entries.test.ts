import { test } from 'tap';

import { leafEntry } from '../../../src/audit/proof/leaf-entry.ts';
import { leafHash } from '../../../src/audit/proof/merkle.ts';
import { entryBundle } from '../../../src/audit/tree/entries.ts';
import { logStart, streamName } from '../../../src/log/log.ts';
import { collect, proposed } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

test('a bundle of entries gives others their turn after each event that ends a slice', async (t) => {
  const log = new MemoryLog();
  const categories = ['object'];
  for (const name of ['a', 'b', 'c'])
    await log.append(streamName(`object:widgets/${name}`), [proposed(name)], 'absent');
  const events = await collect(log.readAll({ after: logStart, until: await log.head(), categories }));
  const tree = {
    hashes: (_level: number, first: number) => leafHash(leafEntry(events[first]!)),
    positionOf: (index: number) => events[index]!.position,
  };
  let turns = 0;
  const pace = {
    isOver: () => true,
    next: async () => {
      turns += 1;
      return Promise.resolve();
    },
  };
  const { signal } = new AbortController();
  await entryBundle(tree, { first: 0, count: 3 }, { log, categories, signal, pace });
  t.ok(turns >= 3);
});
