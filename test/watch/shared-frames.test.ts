/** Audiences that select differently, and receive the same events. */
import { test } from 'tap';

import { logPosition } from '../../src/log/log.ts';
import { watchJoinedWriteBytesMax } from '../../src/limits/watches.ts';
import type { Selection } from '../../src/resource/query/list-query.ts';
import type { WatchStart } from '../../src/watch/watch-plan.ts';
import type { RecordingSink } from './recording-sink.ts';
import { countedHub } from './counted-hub.ts';

const large = 'x'.repeat(watchJoinedWriteBytesMax);

function given() {
  const { watch: open, ...rest } = countedHub();
  const watch = (selection: Selection, start: WatchStart = { kind: 'now' }): RecordingSink => open(selection, start);
  return { watch, ...rest };
}

/** Selects all but objects with the label `app=<place>`. */
function but(place: number): Selection {
  return { labels: [{ key: 'app', operator: 'notIn', values: [String(place)] }], fields: [] };
}

function stories(sinks: readonly RecordingSink[]): readonly string[] {
  return [...new Set(sinks.map(({ story }) => story.join()))];
}

test('an event is encoded once for all audiences, and those that receive the same share a buffer', async (t) => {
  const { watch, writer, objects, encoded } = given();
  const sinks = Array.from({ length: 100 }, (_, index) => watch(but(index)));
  await writer.write('a', { text: large });
  await objects.fold();
  t.strictSame(encoded, { first: 1, later: 1 });
  t.equal(new Set(sinks.map(({ written }) => written[0])).size, 1, 'the very same buffer');
  await writer.write('b', { size: 1 });
  await writer.write('c', { size: 2 });
  await objects.fold();
  t.strictSame(encoded, { first: 1, later: 3 });
  t.equal(new Set(sinks.map(({ written }) => written[1])).size, 1);
  t.strictSame(stories(sinks), ['ADDED a@1,ADDED b@2,ADDED c@3']);
});

test('a large event has a buffer of its own, which audiences with other small events share', async (t) => {
  const { watch, writer, objects, encoded } = given();
  const sinks = Array.from({ length: 3 }, (_, index) => watch(but(index)));
  await writer.write('z', {});
  await objects.fold();
  for (const place of [0, 1, 2]) await writer.write(`s${String(place)}`, { labels: { app: String(place) } });
  await writer.write('large', { text: large });
  await writer.write('last', {});
  await objects.fold();
  t.strictSame(encoded, { first: 1, later: 6 });
  t.strictSame(
    sinks.map(({ story }) => story.join()),
    [
      'ADDED z@1,ADDED s1@3,ADDED s2@4,ADDED large@5,ADDED last@6',
      'ADDED z@1,ADDED s0@2,ADDED s2@4,ADDED large@5,ADDED last@6',
      'ADDED z@1,ADDED s0@2,ADDED s1@3,ADDED large@5,ADDED last@6',
    ],
  );
  for (const [index, distinct] of [1, 3, 1, 1].entries())
    t.equal(new Set(sinks.map(({ written }) => written[index])).size, distinct, `write ${String(index)}`);
});

test('an object that leaves many selections is encoded once for all of them', async (t) => {
  const { watch, writer, objects, encoded } = given();
  const sinks = Array.from({ length: 50 }, (_, index) =>
    watch({ labels: [{ key: 'app', operator: 'notIn', values: ['gone', String(index)] }], fields: [] }),
  );
  await writer.write('a', { text: large });
  await objects.fold();
  await writer.write('a', { text: large, labels: { app: 'gone' } });
  await objects.fold();
  t.strictSame(encoded, { first: 1, later: 2 });
  t.strictSame(stories(sinks), ['ADDED a@1,DELETED a@2']);
  t.equal(new Set(sinks.map(({ written }) => written[1])).size, 1, 'the very same buffer');
});

test('watchers at the begin of their stream get the same events in their own first frame', async (t) => {
  const { watch, writer, objects } = given();
  const early = watch(but(1));
  await writer.write('a', {});
  await objects.fold();
  const late = [watch(but(1)), watch(but(2)), watch(but(3), { kind: 'after', position: logPosition(1n) })];
  await writer.write('b', { text: large });
  await writer.write('c', {});
  await objects.fold();
  t.strictSame(stories([early]), ['ADDED a@1,ADDED b@2,ADDED c@3']);
  t.strictSame(stories(late), ['ADDED b@2,ADDED c@3']);
  for (const { written } of late) {
    const lines = Buffer.concat(written).toString().trimEnd().split('\n');
    t.strictSame(
      lines.map((line) => line.startsWith(' ')),
      [true, false],
    );
  }
  t.equal(new Set(late.map(({ written }) => written[0])).size, 1);
  t.equal(new Set([early, ...late].map(({ written }) => written.at(-1))).size, 1);
});
