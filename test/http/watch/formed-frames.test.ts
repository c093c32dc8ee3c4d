/** Events with their objects in another form: how often the form is made. */
import { test } from 'tap';

import { ShownObjects } from '../../../src/http/watch/shown-objects.ts';
import { framesInForm } from '../../../src/http/watch/formed-frames.ts';
import { webSocketFrames } from '../../../src/http/watch/watch-socket.ts';
import { jsonLines } from '../../../src/http/watch/watch-stream.ts';
import type { Representation } from '../../../src/http/representation/representation.ts';
import { shownObjectBytesMin, shownObjectsBytesMax } from '../../../src/limits/watches.ts';
import type { FrameEncoding, WatchEvent } from '../../../src/watch/frame.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

/** A form that shows the number of its call, and the time. */
function countedForm(name: string) {
  const calls = { first: 0, later: 0 };
  const shown = (text: string, now: number): Buffer => Buffer.from(`{"${name}":"${text}","now":${String(now)}}`);
  const form: Representation = {
    name,
    listKind: { apiVersion: 'v1', kind: 'Table' },
    listOpening: '',
    items: () => ({ bytes: Buffer.alloc(0), until: 0 }),
    object: (_, now) => {
      calls.first += 1;
      return shown(`first ${String(calls.first)}`, now);
    },
    laterObject: (_, now) => {
      calls.later += 1;
      return shown(`later ${String(calls.later)}`, now);
    },
  };
  return { form, calls };
}

function event(size = shownObjectBytesMin): WatchEvent {
  return { type: 'MODIFIED', object: Buffer.alloc(size, 'x'), position: undefined };
}

function encoded({ encode }: FrameEncoding, given: WatchEvent): string {
  const parts: Uint8Array[] = [];
  encode(given, parts);
  return Buffer.concat(parts).toString('latin1');
}

test('each form of a large object is made once for all watches of one second', async (t) => {
  const clock = new FakeClock();
  const objects = new ShownObjects();
  const [table, bare] = [countedForm('table'), countedForm('bare')];
  const change = event();
  const texts = new Set<string>();
  for (let watch = 0; watch < 500; watch += 1)
    for (const { form } of [table, bare]) {
      const frames = framesInForm(form, watch % 2 === 0 ? jsonLines : webSocketFrames, clock, objects);
      texts.add(encoded(frames, change));
      frames.encodeFirst?.(change, []);
    }
  t.strictSame(
    [table.calls, bare.calls],
    [
      { first: 1, later: 1 },
      { first: 1, later: 1 },
    ],
  );
  t.equal(texts.size, 4, 'two forms over two transports');
  encoded(framesInForm(table.form, jsonLines, clock, objects), event());
  t.equal(table.calls.later, 2, 'another object');
});

test('in another second the ages are made anew', async (t) => {
  const clock = new FakeClock();
  const { form, calls } = countedForm('table');
  const frames = framesInForm(form, jsonLines, clock, new ShownObjects());
  const change = event();
  clock.advance(1_000 - (clock.now() % 1_000));
  const before = encoded(frames, change);
  clock.advance(999);
  t.equal(encoded(frames, change), before);
  clock.advance(1);
  t.match(encoded(frames, change), new RegExp(`"now":${String(clock.now())}`, 'u'));
  t.equal(calls.later, 2);
});

test('small objects are not kept, nor more than the limit of bytes', async (t) => {
  const clock = new FakeClock();
  const objects = new ShownObjects();
  const { form, calls } = countedForm('table');
  const frames = framesInForm(form, jsonLines, clock, objects);
  const small = event(shownObjectBytesMin - 1);
  for (const change of [small, small]) encoded(frames, change);
  t.equal(calls.later, 2);
  t.equal(objects.bytes, 0);
  const many = Array.from({ length: 10 }, () => event(1_000_000));
  for (const change of many) encoded(frames, change);
  t.ok(objects.bytes <= shownObjectsBytesMax && objects.bytes > shownObjectsBytesMax - 1_100_000);
  t.equal(calls.later, 12);
  for (const change of many.slice(-4).reverse()) encoded(frames, change);
  t.equal(calls.later, 12, 'the latest ones');
  encoded(frames, event(shownObjectsBytesMax));
  t.ok(objects.bytes <= shownObjectsBytesMax);
});

test('an object with many forms counts once, and is dropped with them', async (t) => {
  const clock = new FakeClock();
  const objects = new ShownObjects();
  const change = event(100_000);
  for (let index = 0; index < 8; index += 1)
    encoded(framesInForm(countedForm(`f${String(index)}`).form, jsonLines, clock, objects), change);
  t.ok(objects.bytes > 100_000 && objects.bytes < 200_000);
  clock.advance(1_000);
  const next = event(100_000);
  encoded(framesInForm(countedForm('table').form, jsonLines, clock, objects), next);
  t.ok(objects.bytes < 120_000, 'those of earlier seconds are dropped');
});
