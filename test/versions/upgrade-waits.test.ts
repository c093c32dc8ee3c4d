/** Writes during an upgrade of their plugin wait until the type is declared, with bounds. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { upgradeLatelyMs, upgradeWaitMs, upgradeWaitsHeldBytesMax, upgradeWaitsMax } from '../../src/limits/writes.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { streamName } from '../../src/log/log.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { Writer } from '../../src/write/admission/writer.ts';
import { UpgradeWaits } from '../../src/write/admission/upgrade-waits.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { body, create, merge, widgets, widgetType } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { shown, Writing, writeContext } from '../support/writing.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const older = widgetType({}, { version: '1.0.0', code: 'a', source: 'folder' });
const newer = widgetType({}, { version: '1.1.0', code: 'b', source: 'folder' });
const stream = streamName(`type:${widgets.key}`);

/** Appends the declaration, as the leader does. */
async function declare({ log, models }: Writing, type: ResourceType, id: string): Promise<void> {
  const last = await log.readLast(stream);
  const event = encodeEvent(idOf(id), { type: 'TypeDeclared', ...type.declaration! }, metadata);
  const appended = await log.append(stream, [event], last?.revision ?? 'absent');
  if (!appended.ok) throw new Error(`not declared: ${appended.reason}`);
  await models.reached(appended.position, { timeoutMs: 1_000 });
}

/** A node that has the older files; the log has their declaration. */
async function opened(t: Test): Promise<Writing> {
  const writing = await Writing.open(t, { type: older, waits: true });
  await declare(writing, older, 'older');
  shown(await writing.write(create(body({ metadata: { name: 'w1' }, spec: { title: 'One' } }))));
  return writing;
}

/** Lets all pending promises settle without a change of the time. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 32; turn += 1) await nextTurn();
}

/** Starts a write, and returns whether it is answered after the pending promises. */
function begun(
  writing: Writing,
  title: string,
  { type = newer, signal }: { readonly type?: ResourceType; readonly signal?: AbortSignal } = {},
) {
  const state = { isAnswered: false };
  const context = signal === undefined ? writeContext : { ...writeContext, signal: () => signal };
  const outcome = writing.execute(type, merge({ spec: { title } }), context).finally(() => {
    state.isAnswered = true;
  });
  return { outcome, isAnswered: () => state.isAnswered };
}

test('a node that has loaded the new files answers when the leader declares them', async (t) => {
  const writing = await opened(t);
  await writing.declare(newer);
  const write = begun(writing, 'Two');
  await quiet();
  writing.clock.advance(upgradeWaitMs - 1);
  await quiet();
  t.notOk(write.isAnswered(), 'the write waits');
  await declare(writing, newer, 'newer');
  t.match(shown(await write.outcome), { spec: { title: 'Two' } });
});

test('a node with the older files answers when it has loaded the declared files', async (t) => {
  const writing = await opened(t);
  await declare(writing, newer, 'newer');
  writing.isServing = false;
  const write = begun(writing, 'Two', { type: older });
  const other = writing.execute(
    older,
    create(body({ metadata: { name: 'w2' }, spec: { title: 'Two' } })),
    writeContext,
  );
  await quiet();
  t.notOk(write.isAnswered(), 'the write waits');
  await writing.declare(newer);
  await quiet();
  t.notOk(write.isAnswered(), 'the new type is not served yet');
  writing.isServing = true;
  writing.upgradeWaits.changed();
  t.match(shown(await write.outcome), { spec: { title: 'Two' } });
  shown(await other);
});

test('if the leader never declares, the write is refused after the limit, with a time to retry', async (t) => {
  const writing = await opened(t);
  await writing.declare(newer);
  const write = begun(writing, 'Two');
  await quiet();
  writing.clock.advance(upgradeWaitMs);
  t.match(await write.outcome, {
    ok: false,
    rejection: {
      reason: 'unavailable',
      retryAfterSeconds: 5,
      detail: /nothing was written; repeat the request later$/,
    },
  });
  writing.clock.advance(upgradeLatelyMs);
  t.match(await begun(writing, 'Two').outcome, { ok: false }, 'no upgrade is under way any more, so no write waits');
  t.match(writing.object(), { spec: { title: 'One' } });
});

test('the disconnect of the client and the end of the node end the wait', async (t) => {
  const writing = await opened(t);
  await writing.declare(newer);
  const client = new AbortController();
  const [left, stopped] = [begun(writing, 'Left', { signal: client.signal }), begun(writing, 'Stopped')];
  await quiet();
  t.strictSame([left.isAnswered(), stopped.isAnswered()], [false, false]);
  client.abort();
  t.match(await left.outcome, { ok: false });
  t.notOk(stopped.isAnswered());
  writing.stopping.abort();
  t.match(await stopped.outcome, { ok: false });
  t.match(await begun(writing, 'Later').outcome, { ok: false });
});

test('waiting writes are bounded, in total and for each writer', async (t) => {
  const clock = new FakeClock();
  const held = { sum: 0 };
  const waits = new UpgradeWaits({ clock, held, signal: new AbortController().signal });
  let isOver = false;
  let waiting = 0;
  const wait = async (of: Writer): Promise<boolean> => {
    waiting += 1;
    return waits
      .until(() => isOver, { of, deadline: waits.deadline() })
      .finally(() => {
        waiting -= 1;
      });
  };
  const [plugin, other, trusted] = [new Writer('plugin'), new Writer('limited'), new Writer('trusted')];
  const all = Array.from({ length: upgradeWaitsMax }, async () => wait(plugin));
  await quiet();
  t.equal(waiting, upgradeWaitsMax / 2, 'one writer uses half of the places');
  all.push(wait(other), ...Array.from({ length: upgradeWaitsMax }, async () => wait(trusted)));
  await quiet();
  t.equal(waiting, upgradeWaitsMax, 'trusted writers use the rest');
  isOver = true;
  waits.changed();
  await Promise.all(all);
  t.equal((await Promise.all(all)).filter(Boolean).length, upgradeWaitsMax);
  isOver = false;
  held.sum = upgradeWaitsHeldBytesMax + 1;
  t.equal(await wait(trusted), false, 'while much memory is in use, no write waits');
  held.sum -= 1;
  const last = wait(trusted);
  await quiet();
  t.equal(waiting, 1);
  clock.advance(upgradeWaitMs);
  t.equal(await last, false);
});
