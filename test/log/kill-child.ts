/**
 * The victim of `kill.test.ts`: writes to the log as fast as it can and prints each acknowledged append, one per line,
 * until it is killed. `node kill-child.js <dir> <run>`
 */
import { writeSync } from 'node:fs';

import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { streamName, streamRevision } from '../../src/log/log.ts';
import type { EventLog, ExpectedRevision, ProposedEvent, StreamName } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';

const ownStreams = 12;
const contenders = 4;

function batch(name: string, size: number): ProposedEvent[] {
  return Array.from({ length: size }, (_, index) => {
    const data = `${name} ${index.toString()} ${size.toString()} ${'x'.repeat(index * 300)}`;
    return {
      id: idOf(`${name}/${index.toString()}`),
      type: 'Written',
      data: Buffer.from(data),
      metadata: Buffer.from('{}'),
    };
  });
}

/** Synchronously, so that an acknowledgement has left the process before anything else can end it. */
function say(line: string): void {
  for (let rest = Buffer.from(line); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full: the parent will read it.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}

async function write(log: EventLog, stream: StreamName, writer: string): Promise<never> {
  let expected: ExpectedRevision = (await log.readLast(stream))?.revision ?? 'absent';
  for (let turn = 0; ; turn += 1) {
    const name = `${writer}/${turn.toString()}`;
    const outcome = await log.append(stream, batch(name, 1 + ((turn * 7) % 5)), expected);
    if (outcome.ok) {
      say(`${name} ${outcome.revision.toString()} ${outcome.position.toString()}\n`);
      expected = outcome.revision;
    } else if (outcome.reason === 'conflict') {
      expected = outcome.actual === 'absent' ? 'absent' : streamRevision(outcome.actual);
    } else {
      throw new Error(`not appended: ${outcome.reason}`, { cause: outcome.cause });
    }
  }
}

const [, , dir = '', run = ''] = process.argv;
const log = await openLmdbLog({
  dir,
  onFatal: (error) => {
    throw error;
  },
});
await Promise.all([
  ...Array.from({ length: ownStreams }, (_, index) =>
    write(log, streamName(`object:own/${index.toString()}`), `${run}/own${index.toString()}`),
  ),
  ...Array.from({ length: contenders }, (_, index) =>
    write(log, streamName('object:shared/one'), `${run}/shared${index.toString()}`),
  ),
]);
