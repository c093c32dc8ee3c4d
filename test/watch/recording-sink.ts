import { eventOpenings, type FrameEncoding } from '../../src/watch/frame.ts';
import type { Ending } from '../../src/watch/watch-plan.ts';
import type { Sink } from '../../src/watch/watcher.ts';

const lineEnd = Buffer.from('}\n');

export const lines: FrameEncoding = {
  name: 'lines',
  encode: ({ type, object }, into) => {
    into.push(eventOpenings[type], object, lineEnd);
  },
};

/** What a watcher saw of one event. */
export type Seen = {
  readonly type: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly spec: unknown;
  readonly labels: unknown;
  readonly endMark: boolean;
};

/** A connection that remembers. While it is blocked, its peer reads nothing. */
export class RecordingSink implements Sink {
  readonly encoding: FrameEncoding;
  /** Each buffer as it was handed over. */
  readonly written: Uint8Array[] = [];
  readonly keepAlives: number[] = [];
  ending: Ending | undefined;
  unresponsive = false;
  /** Destroyed. */
  isCut = false;
  #blocked = false;
  /** Of the one write that has begun and is not taken. */
  #onWritten: (() => void) | undefined;

  constructor(encoding = lines) {
    this.encoding = encoding;
  }

  write(frames: Uint8Array, onWritten: () => void): void {
    if (this.ending !== undefined || this.isCut) throw new Error('nothing is written after the end');
    if (this.#onWritten !== undefined) throw new Error('one write is on its way at a time');
    this.written.push(frames);
    if (this.#blocked) this.#onWritten = onWritten;
    else onWritten();
  }

  cut(): void {
    this.isCut = true;
  }

  keepAlive(now: number): Uint8Array {
    this.keepAlives.push(now);
    return Buffer.alloc(0);
  }

  closingFrames(): undefined {
    return undefined;
  }

  isUnresponsive(): boolean {
    return this.unresponsive;
  }

  end(ending: Ending): void {
    if (this.ending !== undefined) throw new Error('a sink ends once');
    if (this.isCut || this.#onWritten !== undefined) throw new Error('it ends once everything was taken');
    this.ending = ending;
  }

  block(): void {
    this.#blocked = true;
  }

  unblock(): void {
    this.#blocked = false;
    const onWritten = this.#onWritten;
    this.#onWritten = undefined;
    onWritten?.();
  }

  get seen(): readonly Seen[] {
    const text = Buffer.concat(this.written).toString('utf8');
    return text.split('\n').slice(0, -1).map(seenOf);
  }

  /** A line for each event, short enough to compare by eye. */
  get story(): readonly string[] {
    return this.seen.map(({ type, name, resourceVersion }) => `${type} ${name === '' ? '-' : name}@${resourceVersion}`);
  }
}

function seenOf(line: string): Seen {
  const { type, object } = JSON.parse(line) as {
    type: string;
    object: {
      metadata: { name?: string; resourceVersion?: string; labels?: unknown; annotations?: Record<string, string> };
      spec?: unknown;
    };
  };
  const { name = '', resourceVersion = '', labels, annotations } = object.metadata;
  return {
    type,
    name,
    resourceVersion,
    labels,
    spec: object.spec,
    endMark: annotations?.['k8s.io/initial-events-end'] === 'true',
  };
}
