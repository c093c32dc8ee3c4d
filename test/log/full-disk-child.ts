/**
 * Writes to a log until the file system refuses (the parent limits the size of files), and prints the acknowledged
 * appends and the error. `node full-disk-child.js <dir>`
 */
import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { isStrayCommitFailure } from '../../src/log/lmdb/lmdb-store.ts';
import { logStart, streamName } from '../../src/log/log.ts';
import type { AppendOutcome } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';

process.on('unhandledRejection', (error) => {
  if (!isStrayCommitFailure(error)) throw error;
});

const writers = 4;
const [, , dir = ''] = process.argv;
let fail: (error: Error) => void = () => undefined;
const fatal = new Promise<Error>((resolve) => {
  fail = resolve;
});
const log = await openLmdbLog({
  dir,
  onFatal: (error) => {
    fail(error);
  },
});

const reader = (async (): Promise<string> => {
  try {
    for await (const batch of log.subscribe({ after: logStart })) if (batch.length === 0) break;
    return 'ended';
  } catch (error) {
    return error instanceof Error ? error.message : 'not an error';
  }
})();

const acknowledged: string[] = [];

function append(name: string, bytes = 50_000): Promise<AppendOutcome> {
  const event = { id: idOf(name), type: 'Written', data: Buffer.alloc(bytes, 'x'), metadata: Buffer.alloc(0) };
  return log.append(streamName(`object:w/${name}`), [event], 'absent');
}

async function write(writer: number): Promise<string> {
  for (let turn = 0; ; turn += 1) {
    const name = `${writer.toString()}.${turn.toString()}`;
    const outcome = await append(name);
    if (!outcome.ok) return outcome.reason;
    acknowledged.push(name);
  }
}

/** Small ones in each turn, while a large one is on its way: they would find room where it does not. */
async function trickle(): Promise<string> {
  const outcomes: Promise<AppendOutcome>[] = [];
  let failed: string | undefined;
  for (let turn = 0; failed === undefined; turn += 1) {
    const name = `small.${turn.toString()}`;
    outcomes.push(
      append(name, 10).then((outcome) => {
        if (outcome.ok) acknowledged.push(name);
        else failed ??= outcome.reason;
        return outcome;
      }),
    );
    await nextTurn();
  }
  await Promise.all(outcomes);
  return failed;
}

const reasons = await Promise.all([trickle(), ...Array.from({ length: writers }, (_, writer) => write(writer))]);
const error = await fatal;
const later = await append('later');
const head = await log.head().then(
  () => 'answered',
  () => 'rejected',
);
const report = {
  acknowledged: acknowledged.join(' '),
  reasons: reasons.join(' '),
  later: later.ok ? 'ok' : later.reason,
  head,
  reader: await reader,
  error: error.message,
  cause: String(error.cause),
};
for (const [key, value] of Object.entries(report)) writeSync(1, `${key} ${value}\n`);
await log.close();
