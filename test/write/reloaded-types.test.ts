/** Writes that a reload of their plugin overtakes: the type of the request is no longer the registered one. */
import { test, type Test } from 'tap';

import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { decodeEvent, decodeMetadata, encodeEvent } from '../../src/log/event-codec.ts';
import { streamName } from '../../src/log/log.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { create, merge, remove } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { shown, verdict, Writing } from '../support/writing.ts';
import { compiled, gadget, gadgetSchemas, inVersion } from '../versions/gadgets.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

const { versions: _versions, convert: _convert, ...unversioned } = gadget;
/** The type before it had further versions: its only version is v1alpha1. */
const older = compiled({ ...unversioned, version: 'v1alpha1', schema: gadgetSchemas.v1alpha1, indexes: [] });
const newer = compiled(gadget);
const stream = streamName(`type:${newer.key}`);

async function declare(writing: Writing, type: ResourceType, id: string): Promise<void> {
  const { log, models } = writing;
  const last = await log.readLast(stream);
  const event = encodeEvent(idOf(id), { type: 'TypeDeclared', ...type.declaration! }, metadata);
  const appended = await log.append(stream, [event], last?.revision ?? 'absent');
  if (!appended.ok) throw new Error(`not declared: ${appended.reason}`);
  await writing.settle(models.reached(appended.position, { timeoutMs: 1_000 }));
}

async function opened(t: Test): Promise<Writing> {
  const writing = await Writing.open(t, { type: older });
  await declare(writing, older, 'older');
  shown(await writing.write(create({ metadata: { name: 'w1' }, spec: { title: 'Lamp' } })));
  return writing;
}

test('a write of a type that is reloaded meanwhile is decided by the registered type', async (t) => {
  const writing = await opened(t);
  await writing.declare(newer);
  await declare(writing, newer, 'newer');
  const patched = await writing.write(merge({ spec: { title: 'Torch' } }), { type: older });
  t.match(shown(patched), { apiVersion: 'gadgets.example/v1alpha1', spec: { title: 'Torch' } });
  const candle = create({ metadata: { name: 'w2' }, spec: { title: 'Candle' } });
  const created = await writing.write(candle, { type: older });
  t.match(shown(created), { apiVersion: 'gadgets.example/v1alpha1', spec: { title: 'Candle' } });
  const recorded = await writing.log.readLast(streamName(`object:${newer.key}/w2`));
  t.equal(decodeMetadata(recorded!).declared, 1);
  t.match(decodeEvent(recorded!).event, {
    object: { apiVersion: 'gadgets.example/v1', spec: { name: 'Candle', color: 'red' } },
    values: [{ index: 'spec.name' }],
  });
  t.equal(
    verdict(await writing.write(create({ metadata: { name: 'w3' }, spec: { title: 'Candle' } }), { type: older })),
    'unique-value-taken',
    'the indexes of the registered type hold',
  );
});

test('a reloaded type that no longer serves the version of a request refuses the write', async (t) => {
  const writing = await opened(t);
  const [{ examples }, beta, v1] = gadget.versions;
  const unserved = { name: 'v1alpha1', schema: gadgetSchemas.v1alpha1, served: false, examples };
  const last = compiled({ ...gadget, versions: [unserved, beta, v1] });
  await writing.declare(last);
  await declare(writing, last, 'last');
  t.match(await writing.write(merge({ spec: { title: 'Torch' } }), { type: older }), {
    ok: false,
    rejection: {
      reason: 'unavailable',
      retryAfterSeconds: 1,
      detail: 'the plugin gadgets was reloaded during the request: nothing was written; repeat the request',
    },
  });
});

test('while the plugin is being reloaded, a write is refused, to be repeated', async (t) => {
  const writing = await opened(t);
  await writing.declare(newer);
  await declare(writing, newer, 'newer');
  writing.isServing = false;
  t.match(await writing.write(merge({ spec: { title: 'Torch' } }), { type: older }), {
    ok: false,
    rejection: { reason: 'unavailable', retryAfterSeconds: 1, detail: /is being reloaded/u },
  });
  writing.isServing = true;
  shown(await writing.write(merge({ spec: { title: 'Torch' } }), { type: older }));
});

test('a write in another version than the preferred one is answered in this version after a reload', async (t) => {
  const writing = await Writing.open(t, { type: newer });
  await declare(writing, newer, 'newer');
  const again = compiled({ ...gadget, statusSubresource: false });
  await writing.declare(again);
  await declare(writing, again, 'again');
  const created = create({ metadata: { name: 'w1' }, spec: { title: 'Lamp' } });
  const answer = await writing.write(created, { type: inVersion(newer, 'v1alpha1') });
  t.match(shown(answer), { apiVersion: 'gadgets.example/v1alpha1', spec: { title: 'Lamp' } });
});

test('a write of the earlier type is not decided on rows of the registered type', async (t) => {
  const writing = await opened(t);
  await writing.declare(newer);
  for (const command of [remove(), merge({ spec: { title: 'Torch' } })])
    t.match(
      await writing.write(command, { type: older }),
      {
        ok: false,
        rejection: { reason: 'unavailable', detail: /is declared by the plugin gadgets .*, and this server/u },
      },
      command.type,
    );
  writing.isServing = false;
  t.match(await writing.write(remove(), { type: older }), {
    ok: false,
    rejection: { reason: 'unavailable', detail: /is being reloaded/u },
  });
  t.equal((await writing.recorded()).filter(({ stream }) => stream.startsWith('object:')).length, 1);
});
