/** Streams with an encoding of their own for the first event. */
import { test } from 'tap';

import { logPosition } from '../../src/log/log.ts';
import type { WatchStart } from '../../src/watch/watch-plan.ts';
import type { RecordingSink } from './recording-sink.ts';
import { countedHub } from './counted-hub.ts';

function given() {
  const { watch: open, writer, objects, encoded } = countedHub();
  const watch = (start: WatchStart): RecordingSink => open({ labels: [], fields: [] }, start);
  const write = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await writer.write(name, { size: 1 });
    await objects.fold();
  };
  return { watch, write, encoded };
}

/** Of each event, whether it was encoded as a first one. */
function firsts({ written }: RecordingSink): readonly boolean[] {
  return Buffer.concat(written)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => line.startsWith(' '));
}

test('a first event is encoded once for all that begin with it, and once for all others', async (t) => {
  const { watch, write, encoded } = given();
  const early = Array.from({ length: 100 }, () => watch({ kind: 'now' }));
  await write('a', 'b');
  t.strictSame(encoded, { first: 1, later: 2 });
  const late = Array.from({ length: 100 }, () => watch({ kind: 'now' }));
  await write('c');
  t.strictSame(encoded, { first: 2, later: 3 });
  for (const sink of early) t.strictSame(firsts(sink), [true, false, false]);
  for (const sink of late) t.strictSame(firsts(sink), [true]);
  t.equal(new Set(late.map(({ written }) => written[0])).size, 1, 'the very same buffer');
});

test('a watcher that joins with changes it missed begins with the first of them', async (t) => {
  const { watch, write } = given();
  watch({ kind: 'now' });
  await write('a');
  await write('b');
  await write('c');
  const joined = watch({ kind: 'after', position: logPosition(1n) });
  await write('d');
  t.strictSame(firsts(joined), [true, false, false]);
});
