import type { Timer } from '../../src/base/clock.ts';

type Entry = {
  readonly at: number;
  readonly place: number;
  readonly what: string;
  readonly task: () => void;
  cancelled: boolean;
};

/**
 * Simulated time. It alone decides the next task: one at a time, and before the next one everything the code
 * under test can do without this timeline has been done, so a run depends on nothing but its seed.
 */
export class Timeline {
  /** Milliseconds since the run began. */
  now = 0;
  readonly #trace: string[] | undefined;
  readonly #heap: Entry[] = [];
  #placed = 0;

  constructor(trace: string[] | undefined) {
    this.#trace = trace;
  }

  /** A line of what happened, made only when somebody reads it. */
  add(line: () => string): void {
    this.#trace?.push(`${this.now.toFixed(0).padStart(7)} ${line()}`);
  }

  schedule(delayMs: number, what: string, task: () => void): Timer {
    const entry: Entry = { at: this.now + Math.max(0, delayMs), place: this.#placed, what, task, cancelled: false };
    this.#placed += 1;
    this.#push(entry);
    return {
      cancel: () => {
        entry.cancelled = true;
      },
    };
  }

  async delay(delayMs: number, what: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.schedule(delayMs, what, resolve);
    });
  }

  /** Runs the next task and everything that follows from it at once. False when nothing is left. */
  async next(): Promise<boolean> {
    let entry = this.#pop();
    while (entry?.cancelled === true) entry = this.#pop();
    if (entry === undefined) return false;
    this.now = entry.at;
    entry.task();
    await settled();
    return true;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isEarlier(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = at * 2 + 1) {
      if (child + 1 < heap.length && isEarlier(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isEarlier(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isEarlier(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.place < other.place);
}

/** The code under test yields with `setImmediate` too: until none of those is left, it is not done. */
export async function settled(): Promise<void> {
  do {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  } while (process.getActiveResourcesInfo().includes('Immediate'));
}

/** One start of a node until its crash. Its later tasks never run; while it is paused, everything waits. */
export class Life {
  readonly #timeline: Timeline;
  #alive = true;
  #pausedUntil = 0;
  /** What fell due during a pause. */
  readonly #held: (() => void)[] = [];
  #die: () => void = () => undefined;
  readonly died: Promise<'died'>;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.died = new Promise((resolve) => {
      this.#die = () => {
        resolve('died');
      };
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  get paused(): boolean {
    return this.#pausedUntil > this.#timeline.now;
  }

  later(delayMs: number, what: string, task: () => void): Timer {
    let timer: Timer = this.#timeline.schedule(delayMs, what, () => {
      if (!this.#alive) return;
      if (!this.paused) task();
      else
        this.#held.push(() => {
          if (!cancelled) timer = this.later(0, what, task);
        });
    });
    let cancelled = false;
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#timeline.now + ms);
    this.#timeline.schedule(ms, 'the end of a pause', () => {
      if (!this.paused) this.resume();
    });
  }

  /** What fell due meanwhile happens now, in its order. */
  resume(): void {
    this.#pausedUntil = 0;
    for (const happen of this.#held.splice(0)) happen();
  }

  end(): void {
    this.#alive = false;
    this.#die();
  }
}
