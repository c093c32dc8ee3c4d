import { test } from 'tap';

import { exportedLog } from '../../../src/audit/export/exported-log.ts';
import { leafEntry } from '../../../src/audit/proof/leaf-entry.ts';
import { leafHash } from '../../../src/audit/proof/merkle.ts';
import { exportPieceBytes } from '../../../src/limits/audit.ts';
import { logPosition, logStart, streamName } from '../../../src/log/log.ts';
import { collect, proposed } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { checkpointOf, origin, sampleEvents } from './sample-export.ts';

test('an export waits for its turn after each piece, whenever its reader takes the piece', async (t) => {
  const log = new MemoryLog();
  const categories = ['object'];
  for (const name of ['a', 'b', 'c'])
    await log.append(streamName(`object:widgets/${name}`), [proposed('x'.repeat(exportPieceBytes) + name)], 'absent');
  const events = await collect(log.readAll({ after: logStart, until: await log.head(), categories }));
  const done: string[] = [];
  const pace = {
    isOver: () => false,
    next: async () => {
      done.push('turn');
      return Promise.resolve();
    },
  };
  const tree = {
    origin: () => origin,
    size: () => 3,
    root: () => leafHash(leafEntry(events[0]!)),
    nodeHash: () => leafHash(leafEntry(events[0]!)),
    positionOf: (index: number) => events[index]!.position,
    leavesUntil: () => 3,
    signedCheckpoint: () => Promise.resolve(''),
    earlierCheckpoint: () => '',
  };
  const identity = () => ({ logId: 'a-log', epoch: 0, founded: logPosition(1n) }) as never;
  const request = { range: { from: 0, until: 3 }, checkpoint: checkpointOf(sampleEvents(3), 3) };
  const { signal } = new AbortController();
  for await (const piece of exportedLog(request, { log, tree, identity, categories }, { pace, signal }))
    done.push(piece.length > exportPieceBytes ? 'piece' : 'other');
  t.match(done.join(' '), /piece turn.*piece turn.*piece turn/u);
});
