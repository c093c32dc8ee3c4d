import { test } from 'tap';

import { CheckpointMismatchError, verifyCheckpoint, type Fold } from '../../projections/runner.ts';
import { logPosition, type EventLog } from '../../src/log/log.ts';

const checkpoint = { logId: 'one', epoch: 1, position: logPosition(7n), eventId: 'an event' };

/** The folded state, and a log with this event at the checkpoint. */
async function verified(folded: Partial<typeof checkpoint>, standing: string | undefined): Promise<boolean> {
  let isCleared = false;
  const fold = {
    checkpoint: () => ({ ...checkpoint, ...folded }),
    identity: () => ({ logId: 'one', epoch: 1 }),
    clear: () => {
      isCleared = true;
    },
  };
  const log = { readAt: () => Promise.resolve(standing === undefined ? undefined : { id: standing }) };
  await verifyCheckpoint(log as unknown as EventLog, fold as unknown as Fold);
  return isCleared;
}

test('read models continue from their checkpoint only if its event exists, and rebuild in a later epoch', async (t) => {
  t.equal(await verified({}, 'an event'), false);
  t.equal(await verified({ epoch: 0 }, undefined), true);
  await t.rejects(verified({}, 'another event'), CheckpointMismatchError);
  await t.rejects(verified({}, undefined), CheckpointMismatchError);
  await t.rejects(verified({ logId: 'another' }, 'an event'), CheckpointMismatchError);
  await t.rejects(verified({ epoch: 2 }, 'an event'), CheckpointMismatchError);
});
