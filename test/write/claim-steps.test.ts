/** Single steps of a claim (consistency protocol, 1), each against what another writer does in that very moment. */
import { test, type Test } from 'tap';

import { claimStream, claimValue, reconcileClaim, type ClaimResult } from '../../src/write/unique/unique-claims.ts';
import { eventSchema, type EventMetadata, type ObjectEvent } from '../../src/command/event.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import {
  streamName,
  streamRevision,
  type EventLog,
  type ExpectedRevision,
  type RecordedEvent,
  type StreamName,
} from '../../src/log/log.ts';
import { quickClock } from '../support/clocks/quick-clock.ts';
import { created, updated, valuesOf, widget, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const type = widgets.key;
const [me, other] = ['me', 'other'].map((name) => streamName(`object:${type}/${name}`)) as [StreamName, StreamName];
const holding = (version: number, serial?: string) =>
  widget({ metadata: { name: 'other', version }, spec: { title: 'T', ...(serial === undefined ? {} : { serial }) } });
const [value] = valuesOf(holding(0, 's1')) as [ReturnType<typeof valuesOf>[number]];
const claims = claimStream(type, value);

class Stage {
  readonly log = new MemoryLog();
  #ids = 0;

  constructor(t: Test) {
    t.teardown(() => this.log.close());
  }

  readonly uuid = (): string => idOf(`id ${String((this.#ids += 1))}`);

  async claim(
    stream: StreamName,
    base: ExpectedRevision,
    log: Pick<EventLog, 'append' | 'readLast'> = this.log,
  ): Promise<ClaimResult> {
    return claimValue(
      { log, clock: quickClock(), uuid: this.uuid, metadata: () => metadata },
      { type, value, me: stream, base },
    );
  }

  async settle(fenceOf: RecordedEvent | undefined): Promise<string> {
    return (
      await reconcileClaim(
        { log: this.log, clock: quickClock(), uuid: this.uuid, metadata: () => metadata },
        { stream: claims, value, fenceOf: fenceOf?.revision },
      )
    ).outcome;
  }

  async append(event: ObjectEvent, base: number): Promise<void> {
    const appended = await this.log.append(
      other,
      [encodeEvent(this.uuid(), event, metadata)],
      base === -1 ? 'absent' : streamRevision(base),
    );
    if (!appended.ok) throw new Error(appended.reason);
  }

  async last(stream: StreamName) {
    const last = await this.log.readLast(stream);
    return last === undefined ? undefined : decodeEvent(last).event;
  }
}

test('an append that wins against a fence is respected: the claim is checked again', async (t) => {
  const stage = new Stage(t);
  await stage.claim(other, 'absent');
  // The pending create lands after the fence was decided on, and before it is appended.
  let isLate = false;
  const racing: Pick<EventLog, 'append' | 'readLast'> = {
    readLast: async (stream) => stage.log.readLast(stream),
    append: async (stream, ...rest) => {
      if (stream === other && !isLate) {
        isLate = true;
        await stage.append(created(holding(0, 's1')), -1);
      }
      return stage.log.append(stream, ...rest);
    },
  };
  t.same(await stage.claim(me, 'absent', racing), { outcome: 'taken', holder: other });
  t.ok(isLate);
  t.match(await stage.last(claims), { type: 'ValueClaimed', holder: other });
});

test('a pending claim is fenced before a takeover; one that cannot be appended is taken over at once', async (t) => {
  const stage = new Stage(t);
  await stage.claim(other, 'absent');
  t.match(await stage.claim(me, 'absent'), { outcome: 'claimed' });
  t.match(await stage.last(other), { type: 'NameFenced', values: [] });
  const again = new Stage(t);
  await again.append(created(holding(0)), -1);
  await again.claim(other, streamRevision(0));
  await again.append(updated(holding(1)), 0);
  t.match(await again.claim(me, 'absent'), { outcome: 'claimed' });
  t.match(await again.last(other), { type: 'ObjectUpdated' }, 'nothing was fenced');
});

test('a holder read before its claim is read again', async (t) => {
  const stage = new Stage(t);
  await stage.append(created(holding(0)), -1);
  const before = await stage.log.readLast(other);
  await stage.append(updated(holding(1)), 0);
  await stage.claim(other, streamRevision(1));
  await stage.append(updated(holding(2, 's1')), 1);
  let stale = 2;
  const behind: Pick<EventLog, 'append' | 'readLast'> = {
    append: async (...call) => stage.log.append(...call),
    readLast: async (stream) => {
      if (stream !== other || stale === 0) return stage.log.readLast(stream);
      stale -= 1;
      return before;
    },
  };
  t.same(await stage.claim(me, 'absent', behind), { outcome: 'taken', holder: other });
  t.equal(stale, 0);
});

test('a writer appends its own claim again: a release decided before it fails', async (t) => {
  const stage = new Stage(t);
  t.match(await stage.claim(me, streamRevision(4)), { outcome: 'claimed', revision: 0 });
  t.match(await stage.claim(me, streamRevision(4)), { outcome: 'claimed', revision: 1 });
  t.match(await stage.claim(me, streamRevision(3)), { outcome: 'claimed', revision: 2 });
});

test('a fence repeats the object and its held values', async (t) => {
  const stage = new Stage(t);
  await stage.append(created(holding(0, 's2')), -1);
  await stage.claim(other, streamRevision(0));
  t.match(await stage.claim(me, 'absent'), { outcome: 'claimed' });
  const fence = await stage.last(other);
  t.match(fence, { type: 'NameFenced', object: { metadata: { name: 'other', version: 1 }, spec: { serial: 's2' } } });
  t.same((fence as ObjectEvent).values, valuesOf(holding(0, 's2')));
});

test('a claim is released once its holder can no longer hold the value, and not before', async (t) => {
  const stage = new Stage(t);
  const claimed = async (): Promise<RecordedEvent | undefined> => stage.log.readLast(claims);
  await stage.claim(other, 'absent');
  t.equal(await stage.settle(undefined), 'pending', 'its append may still land');
  t.equal(await stage.last(other), undefined);
  await stage.append(created(holding(0, 's1')), -1);
  t.equal(await stage.settle(await claimed()), 'settled');
  t.match(await stage.last(claims), { type: 'ValueClaimed', holder: other }, 'it is held');
  await stage.append(updated(holding(1)), 0);
  t.equal(await stage.settle(undefined), 'settled');
  t.match(await stage.last(claims), { type: 'ValueReleased', holder: other });

  await stage.claim(other, streamRevision(1));
  t.equal(await stage.settle(await claimed()), 'pending', 'a fence takes the revision first');
  t.match(await stage.last(other), { type: 'NameFenced' });
  t.match(await stage.last(claims), { type: 'ValueClaimed' });
  t.equal(await stage.settle(await claimed()), 'settled');
  t.match(await stage.last(claims), { type: 'ValueReleased' });
});
