/** When the leader signs, and when it appends the root. */
import { test } from 'tap';

import { TreeHeads } from '../../../src/audit/tree/tree-heads.ts';
import { eventSchema, type TreeEvent } from '../../../src/command/event.ts';
import { treeHeadMs, treeSigningMs } from '../../../src/limits/audit.ts';
import { decodeEvent } from '../../../src/log/event-codec.ts';
import { logStart } from '../../../src/log/log.ts';
import type { RecordedHead } from '../../../src/read/folded-tree.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { settled } from '../../support/clocks/turns.ts';
import { idOf } from '../../support/id-of.ts';
import { collect } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

test('the leader signs a tree that has grown, each minute, and appends its root each hour', async (t) => {
  const [log, clock] = [new MemoryLog(), new FakeClock()];
  let [size, signedSize, ids, signatures] = [10, 0, 0, 0];
  let [leads, isRefused] = [false, false];
  let head: RecordedHead | undefined;
  const heads = new TreeHeads({
    log,
    clock,
    signer: {
      get signedSize() {
        return signedSize;
      },
      sign: async () => {
        if (isRefused) return Promise.resolve({ ok: false, reason: 'unavailable', detail: 'refused' });
        signedSize = size;
        signatures += 1;
        return Promise.resolve({ ok: true, checkpoint: { size, root: `root of ${String(size)}`, note: '' } });
      },
    },
    tree: { size: () => size, lastHead: () => head },
    leadership: { isLeader: () => leads },
    uuid: () => idOf(String((ids += 1))),
    metadata: () => ({
      actor: 'system:tree',
      verb: 'create',
      requestId: 'r',
      time: new Date(clock.now()).toISOString(),
      schema: eventSchema,
      $correlationId: 'r',
    }),
    onError: (error) => {
      throw error;
    },
  });
  const minutes = async (count: number): Promise<readonly [signatures: number, heads: readonly number[]]> => {
    signatures = 0;
    const before = (await collect(log.readAll({ after: logStart }))).length;
    for (let minute = 0; minute < count; minute += 1) {
      clock.advance(treeSigningMs);
      await settled();
      const last = (await collect(log.readAll({ after: logStart }))).at(-1);
      const event = last === undefined ? undefined : (decodeEvent(last).event as TreeEvent);
      // It is folded as a leaf.
      if (event !== undefined && event.size !== head?.size) {
        head = { size: event.size, root: event.root, index: size, time: new Date(clock.now()).toISOString() };
        size += 1;
      }
    }
    const events = (await collect(log.readAll({ after: logStart }))).slice(before);
    return [signatures, events.map((recorded) => (decodeEvent(recorded).event as TreeEvent).size)];
  };
  heads.open();
  t.strictSame(await minutes(3), [0, []], 'a node that does not lead signs on request only');
  leads = true;
  isRefused = true;
  t.strictSame(await minutes(1), [0, []], 'what cannot be signed is not appended');
  isRefused = false;
  t.strictSame(await minutes(1), [1, [10]], 'the first root');
  t.strictSame(await minutes(5), [1, []], 'the TreeHead itself is signed once');
  t.strictSame(await minutes(2 * (treeHeadMs / treeSigningMs)), [0, []], 'it alone is no reason for another one');
  size += 5;
  t.strictSame(await minutes(1), [1, [16]], 'the hour is over long since');
  size += 1;
  t.strictSame(await minutes(30), [1, []]);
  t.strictSame(await minutes(31), [2, [18]], 'the root, and then the TreeHead that has it');
  await heads.stop();
  size += 9;
  t.strictSame(await minutes(200), [0, []], 'after a stop nothing is signed');
});
