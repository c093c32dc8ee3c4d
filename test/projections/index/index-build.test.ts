/**
 * Builds of indexes during other work: the time in which they hold the event loop, and concurrent writes. Time is a
 * fake clock's, advanced by the index functions themselves.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { sliceMs } from '../../../src/base/slices.ts';
import type { ListQuery } from '../../../src/resource/query/list-query.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { create, merge, remove, widgetType } from '../../support/given.ts';
import { turnsOf } from '../../support/clocks/turns.ts';
import { Writing } from '../../support/writing.ts';

const objects = 400;
const costMs = 1;

function bySerial({ indexes }: ResourceType): ListQuery {
  const index = indexes.findIndex(({ name }) => name === 'spec.serial');
  return { selection: { labels: [], fields: [] }, sort: [{ index, direction: 'asc' }], window: { kind: 'all' } };
}

type Costly = { readonly writing: Writing; readonly slow: ResourceType; onCall: (name: string) => void };

/**
 * Objects stored under a plain declaration, and another one with an index function that takes a millisecond for each.
 */
async function given(t: Test): Promise<Costly> {
  const writing = await Writing.open(t, { type: widgetType({ indexes: [{ name: 'spec.title' }] }) });
  await writing.race(
    Array.from({ length: objects }, (_, index) => create(body(`w${String(index).padStart(4, '0')}`, 's'))),
  );
  const costly: Costly = {
    writing,
    slow: widgetType({ indexes: [{ name: 'spec.serial', indexFunc }] }),
    onCall: () => undefined,
  };
  function indexFunc(object: ResourceObject): unknown {
    writing.clock.advance(costMs);
    costly.onCall(object.metadata.name);
    return serialOf(object);
  }
  return costly;
}

function body(name: string, serial: string) {
  return { metadata: { name }, spec: { title: 'T', serial } };
}

function serialOf(object: ResourceObject): string {
  return String((object['spec'] as Readonly<Record<string, unknown>> | undefined)?.['serial']);
}

test('a build yields by time, after however few objects', async (t) => {
  const { writing, slow } = await given(t);
  const { turns, longestMs } = await turnsOf(writing.clock, writing.declare(slow));
  t.ok(longestMs <= 2 * sliceMs, `${String(longestMs)} ms in one turn`);
  t.ok(turns >= (objects * costMs) / (2 * sliceMs), `${String(turns)} turns`);
  t.equal([...writing.models.pages(slow.key, bySerial(slow))].flat().length, objects);
});

test('writes during an index build are in the indexes afterwards', async (t) => {
  const costly = await given(t);
  const { writing, slow } = costly;
  let isWritten = false;
  const written: Promise<unknown>[] = [];
  costly.onCall = (name) => {
    if (isWritten || name < 'w0200') return;
    isWritten = true;
    const cheap = widgetType({ indexes: [{ name: 'spec.title' }] });
    const write = async (command: Parameters<Writing['write']>[0]): Promise<unknown> =>
      writing.execute(cheap, command, context);
    written.push(
      write(merge({ spec: { serial: 'behind' } }, { name: 'w0000' })),
      write(merge({ spec: { serial: 'ahead' } }, { name: 'w0399' })),
      write(create(body('w0000a', 'new'))),
      write(remove({}, 'w0001')),
    );
  };
  await writing.declare(slow);
  for (const outcome of await Promise.all(written)) t.match(outcome, { ok: true });
  const names = [...writing.models.pages(slow.key, bySerial(slow))].flat();
  t.equal(names.length, objects, 'one is new and one is gone');
  t.strictSame([names[0], names[1], names[2]], ['w0399', 'w0000', 'w0000a'], 'by the values they have now');
  t.notOk(names.includes('w0001'));
});

test('a build of a stopped type reads no further', async (t) => {
  const costly = await given(t);
  const { writing, slow } = costly;
  let calls = 0;
  costly.onCall = (name) => {
    calls += 1;
    if (name === 'w0010') writing.models.dropIndexes(slow.key);
  };
  await writing.declare(slow);
  t.ok(calls <= 11 + 2 * sliceMs, `${String(calls)} objects`);
  t.throws(
    () => [...writing.models.pages(slow.key, bySerial(slow))].flat(),
    /the indexes of widgets.example.com are not ready/u,
  );
});

test('of two concurrent builds the later one is used, and the earlier one stops', async (t) => {
  const costly = await given(t);
  const { writing, slow } = costly;
  let calls = 0;
  costly.onCall = () => {
    calls += 1;
  };
  const first = writing.declare(slow);
  await nextTurn();
  const second = writing.declare(slow);
  await Promise.all([first, second]);
  t.ok(calls < objects + objects / 2, `${String(calls)} calls`);
  t.equal([...writing.models.pages(slow.key, bySerial(slow))].flat().length, objects);
});

const context = {
  cause: { actor: 'test', verb: 'write', requestId: 'r' },
  dryRun: false,
  fieldValidation: undefined,
  origin: 'client',
  subject: { kind: 'platform', part: 'test' },
} as const;
