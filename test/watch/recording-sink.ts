import { eventOpenings, type FrameEncoding } from '../../src/watch/frame.ts';
import type { Ending } from '../../src/watch/watch-plan.ts';
import type { Sink } from '../../src/watch/watcher.ts';

const lineEnd = Buffer.from('}\n');

const lines: FrameEncoding = {
  name: 'lines',
  encode: ({ type, object }, into) => { into.push(eventOpenings[type], object, lineEnd); },
};

/** What a watcher saw of one event. */
export type Seen = { readonly type: string; readonly name: string; readonly resourceVersion: string; readonly spec: unknown; readonly labels: unknown; readonly endMark: boolean };

/** A connection that remembers. While it is blocked, its peer reads nothing. */
export class RecordingSink implements Sink {
  readonly encoding = lines;
  /** Each buffer as it was handed over. */
  readonly written: Uint8Array[] = [];
  readonly keepAlives: number[] = [];
  ending: Ending | undefined;
  unresponsive = false;
  /** How many bytes the peer appears to have left unread for each buffer written while it was blocked. */
  readonly #unreadBytes: number;
  #blocked = false;
  #pending = 0;
  readonly #waiting = new Set<() => void>();

  constructor(unreadBytes = 1) {
    this.#unreadBytes = unreadBytes;
  }

  write(frames: Uint8Array): void {
    if (this.ending !== undefined) throw new Error('nothing is written after the end');
    this.written.push(frames);
    if (this.#blocked) this.#pending += 1;
  }

  bufferedBytes(): number {
    return this.#pending * this.#unreadBytes;
  }

  drained(): Promise<void> | undefined {
    if (this.#pending === 0) return undefined;
    return new Promise((resolve) => { this.#waiting.add(resolve); });
  }

  keepAlive(now: number): void {
    this.keepAlives.push(now);
  }

  isUnresponsive(): boolean {
    return this.unresponsive;
  }

  end(ending: Ending): void {
    if (this.ending !== undefined) throw new Error('a sink ends once');
    this.ending = ending;
    this.#release();
  }

  block(): void {
    this.#blocked = true;
  }

  unblock(): void {
    this.#blocked = false;
    this.#pending = 0;
    this.#release();
  }

  get seen(): readonly Seen[] {
    const text = Buffer.concat(this.written).toString('utf8');
    return text.split('\n').slice(0, -1).map(seenOf);
  }

  /** As a line for each event: what was seen, short enough to compare by eye. */
  get story(): readonly string[] {
    return this.seen.map(({ type, name, resourceVersion }) => `${type} ${name === '' ? '-' : name}@${resourceVersion}`);
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function seenOf(line: string): Seen {
  const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name?: string; resourceVersion?: string; labels?: unknown; annotations?: Record<string, string> }; spec?: unknown } };
  const { name = '', resourceVersion = '', labels, annotations } = object.metadata;
  return { type, name, resourceVersion, labels, spec: object.spec, endMark: annotations?.['k8s.io/initial-events-end'] === 'true' };
}
