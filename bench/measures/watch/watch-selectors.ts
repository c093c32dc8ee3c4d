import { setImmediate as nextTurn } from 'node:timers/promises';

import { systemClock } from '../../../src/base/clock.ts';
import { visitor } from '../../../src/command/subject.ts';
import { decodeSelection } from '../../../src/http/resources/decode-list-query.ts';
import { clientOf } from '../../../src/read/client.ts';
import type { ChangeBatch, ChangeFeed } from '../../../src/read/objects.ts';
import { eventOpenings, type FrameEncoding } from '../../../src/watch/frame.ts';
import { WatchHub } from '../../../src/watch/hub.ts';
import type { Watcher, Sink } from '../../../src/watch/watcher.ts';
import { MemoryLog } from '../../../test/support/memory/memory-log.ts';
import { MemoryObjects, WidgetWriter } from '../../../test/support/memory/memory-objects.ts';
import { widgetType } from '../../../test/support/watched-type.ts';
import type { Bench, Measure } from '../../bench.ts';
import { quantile } from '../../load/http-load.ts';
import type { Result } from '../../result.ts';
import { expect } from '../../subject/client.ts';

const type = widgetType();
const batchSize = 64;
const lineEnd = Buffer.from('}\n');

const encoding: FrameEncoding = {
  name: 'lines',
  encode: ({ type: kind, object }, into) => {
    into.push(eventOpenings[kind], object, lineEnd);
  },
};

/**
 * Measures in this process the work of 10,000 watchers with as many selectors: half of them select by label, half by
 * field. Two selectors match each change. The time is from the publication of a batch until all its events are written.
 */
export const watchSelectors: Measure = {
  name: 'watch-selectors',
  run: async (bench) => {
    const watchers = bench.scaled(10_000);
    const room = new WatchRoom();
    await room.open(watchers);
    const of = `${watchers.toLocaleString('en')} watchers with distinct selectors`;
    const one = await room.times(bench, { watchers, changes: 1 });
    const many = await room.times(bench, { watchers, changes: batchSize });
    room.close();
    return [result(`${of}: one change`, one, 0.5), result(`${of}: a batch of ${batchSize.toString()}`, many, 20)];
  },
};

function result(measure: string, times: readonly number[], floor: number): Result {
  const sorted = Float64Array.from(times).sort();
  const spread = [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN] as const;
  return { measure, value: quantile(sorted, 0.5), unit: 'ms', floor, bound: 'value at most', spread };
}

/** A real hub. Its feed publishes batches of a folded log on request of the measure. */
class WatchRoom {
  readonly #log = new MemoryLog();
  readonly #writer = new WidgetWriter(this.#log);
  readonly #objects = new MemoryObjects(this.#log, systemClock, [type]);
  readonly #hub: WatchHub;
  readonly #folded: ChangeBatch[] = [];
  #publish: (batch: ChangeBatch) => void = () => undefined;
  #received = 0;
  #written = 0;

  constructor() {
    this.#objects.subscribe((batch) => this.#folded.push(batch));
    const feed: ChangeFeed = {
      subscribe: (listener) => {
        this.#publish = listener;
        return () => undefined;
      },
    };
    const report = (error: unknown): never => {
      throw error;
    };
    this.#hub = new WatchHub({ feed, reader: this.#objects, log: this.#log, clock: systemClock, report });
  }

  async open(count: number): Promise<void> {
    const open: Watcher[] = [];
    for (let index = 0; index < count; index += 1) {
      const half = Math.floor(index / 2).toString();
      const query = index % 2 === 0 ? { labelSelector: `tier=t-${half}` } : { fieldSelector: `spec.size=${half}` };
      const selection = decodeSelection(new URLSearchParams(query), type);
      if (!selection.ok) throw new Error('a selector of the bench is invalid');
      const plan = {
        type,
        name: undefined,
        subject: visitor,
        client: clientOf(visitor, '127.0.0.1'),
        bookmarks: false,
      };
      const start = { kind: 'now' } as const;
      const sink = this.#sink();
      open.push(this.#hub.open({ ...plan, selection: selection.value, timeoutMs: undefined, start }, sink));
    }
    while (open.some(({ state }) => state === 'catching-up')) await nextTurn();
    expect('open watches', this.#hub.size, count);
  }

  /** The milliseconds of each batch. The first batches warm up the code, and are not included. */
  async times(bench: Bench, plan: { readonly watchers: number; readonly changes: number }): Promise<readonly number[]> {
    const warmUp = 20;
    const times: number[] = [];
    for (let batch = 0; batch < warmUp + bench.scaled(200); batch += 1) {
      const took = await this.#time(plan);
      if (batch >= warmUp) times.push(took);
    }
    return times;
  }

  close(): void {
    this.#hub.closeAll();
  }

  async #time({ watchers, changes }: { readonly watchers: number; readonly changes: number }): Promise<number> {
    for (let change = 0; change < changes; change += 1) {
      const value = (this.#written * 7) % Math.floor(watchers / 2);
      await this.#writer.write(`w-${this.#written.toString()}`, {
        labels: { tier: `t-${value.toString()}` },
        size: value,
      });
      this.#written += 1;
    }
    await this.#objects.fold();
    const expected = this.#received + 2 * changes;
    const [batch] = this.#folded.splice(0);
    if (batch === undefined) throw new Error('no batch was folded');
    const began = performance.now();
    this.#publish(batch);
    while (this.#received < expected) await nextTurn();
    const took = performance.now() - began;
    await nextTurn();
    expect('events of a batch', this.#received, expected);
    return took;
  }

  #sink(): Sink {
    return {
      encoding,
      write: (frames, onWritten) => {
        for (const byte of frames) if (byte === 10) this.#received += 1;
        onWritten();
      },
      cut: () => undefined,
      keepAlive: () => Buffer.alloc(0),
      closingFrames: () => undefined,
      isUnresponsive: () => false,
      end: () => undefined,
    };
  }
}
