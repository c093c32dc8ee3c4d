import { quantile, runLoad } from './http-load.ts';
import type { LoadPlan } from './http-load.ts';
import { writePaced } from './paced-writes.ts';
import type { PacedPlan } from './paced-writes.ts';
import type { Target } from './socket.ts';
import { Watchers } from './watchers.ts';

/** The plan of watchers on one collection while a load changes the collection. */
export type WatchPlan = Target & {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sockets: number;
  /** A change is a message of a WebSocket, or a line of a response. The default is `websocket`. */
  readonly transport?: 'websocket' | 'lines';
  /**
   * The load: writers that send the next write after each response, writers at a fixed rate, or messages that the
   * server sends after a start signal.
   */
  readonly changes:
    | { readonly kind: 'closed-loop'; readonly load: LoadPlan }
    | { readonly kind: 'paced'; readonly writes: PacedPlan }
    | { readonly kind: 'pushed'; readonly count: number };
};

export type WatchResult = {
  readonly sockets: number;
  readonly changes: number;
  readonly deliveries: number;
  readonly seconds: number;
  readonly perSecond: number;
  /**
   * The time from the response to a write until the last watcher's message. Measured only for writes at a fixed rate.
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The time from sending a write to its response. */
  readonly writeP99Ms: number;
  /** The time from sending a write to the last watcher's message, which includes the delay of a late response. */
  readonly wholeP99Ms: number;
  /** The start of the text of all messages that the first watcher received. */
  readonly sample: string;
};

const deliveryTimeoutMs = 120_000;

/** Runs the watchers and the load. `onReady` is called when every watcher is connected. */
export async function runWatch(plan: WatchPlan, onReady: () => void): Promise<WatchResult> {
  const watchers = new Watchers();
  try {
    await watchers.open(plan);
    const kept = watchers.keepFirst();
    onReady();
    const began = performance.now();
    const { changes, latencies, writeP99Ms, wholeP99Ms } = await change(plan, watchers);
    const seconds = ((watchers.completedAt[changes - 1] ?? Number.NaN) - began) / 1_000;
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    const [least, most] = watchers.range();
    if (least !== changes || most !== changes)
      throw new Error(
        `each watcher must receive ${changes.toString()} messages, not ${least.toString()} to ${most.toString()}`,
      );
    const sorted = Float64Array.from(latencies).sort();
    return {
      sockets: plan.sockets,
      changes,
      deliveries: watchers.messages,
      seconds,
      perSecond: watchers.messages / seconds,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: sorted.at(-1) ?? Number.NaN,
      writeP99Ms,
      wholeP99Ms,
      sample: Buffer.concat(kept).toString('utf8').slice(0, 4_096),
    };
  } finally {
    watchers.close();
  }
}

async function change(
  { changes }: WatchPlan,
  watchers: Watchers,
): Promise<{ changes: number; latencies: readonly number[]; writeP99Ms: number; wholeP99Ms: number }> {
  switch (changes.kind) {
    case 'pushed':
      await watchers.all(changes.count, deliveryTimeoutMs);
      return { changes: changes.count, latencies: [], writeP99Ms: Number.NaN, wholeP99Ms: Number.NaN };
    case 'closed-loop': {
      const result = await runLoad(changes.load);
      if (result.errors > 0) throw new Error(`a write failed: ${result.error ?? ''}`);
      const count = changes.load.warmUp + changes.load.requests;
      await watchers.all(count, deliveryTimeoutMs);
      return { changes: count, latencies: [], writeP99Ms: result.p99Ms, wholeP99Ms: Number.NaN };
    }
    case 'paced': {
      const answers = await writePaced(changes.writes);
      await watchers.all(answers.length, deliveryTimeoutMs);
      const latencies = answers.map(({ at }, index) => Math.max(0, (watchers.completedAt[index] ?? Infinity) - at));
      const took = Float64Array.from(answers.map(({ tookMs }) => tookMs)).sort();
      const whole = Float64Array.from(
        answers.map(({ at, tookMs }, index) => (watchers.completedAt[index] ?? Infinity) - at + tookMs),
      ).sort();
      return {
        changes: answers.length,
        latencies,
        writeP99Ms: quantile(took, 0.99),
        wholeP99Ms: quantile(whole, 0.99),
      };
    }
  }
}
