/** The end of a thread that is within a transaction, or that waits for a message that never comes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { open } from 'lmdb';
import { test, type Test } from 'tap';

import { MessageThread, type Failed } from '../../../src/server/threads/message-thread.ts';
import { threadStopMsMax } from '../../../src/limits/threads.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { stuckThreadUrl, type StuckStart } from './stuck-thread.ts';

type Given = {
  readonly clock: FakeClock;
  readonly cells: Int32Array;
  readonly path: string;
  readonly thread: MessageThread<string>;
};

function given(t: Test, kind: StuckStart['kind']): Given {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-thread-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const [clock, path] = [new FakeClock(), join(dir, 'tables.mdb')];
  const cells = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: StuckStart = { kind, path, cells };
  const thread = new MessageThread<string>({
    url: stuckThreadUrl,
    name: 'stuck',
    workerData,
    heapMegabytesMax: 64,
    clock,
  });
  return { clock, cells, path, thread };
}

async function remaining(thread: MessageThread<string>): Promise<readonly (string | Failed)[]> {
  const messages: (string | Failed)[] = [];
  for (let next = await thread.next(); next !== undefined; next = await thread.next()) messages.push(next);
  return messages;
}

test('a thread that is asked to end within a transaction completes the transaction and ends', async (t) => {
  const { clock, cells, path, thread } = given(t, 'transaction');
  t.equal(await thread.next(), 'begun');
  const ended = thread.end();
  clock.advance(threadStopMsMax);
  await new Promise(setImmediate);
  Atomics.store(cells, 0, 1);
  Atomics.notify(cells, 0);
  await ended;
  t.strictSame(await remaining(thread), ['committed']);
  const tables = open({ path, noSubdir: true });
  t.equal(tables.get('key'), 'value');
  await tables.close();
});

test('a thread that waits for ever ends', async (t) => {
  const { clock, thread } = given(t, 'wait');
  t.equal(await thread.next(), 'begun');
  const ended = thread.end();
  clock.advance(threadStopMsMax);
  await ended;
  t.strictSame(await remaining(thread), []);
});
