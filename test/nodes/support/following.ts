import { adminAuthorization } from '../../support/server/start-server.ts';
import { Watching, type Transport, type WatchedEvent } from '../../support/watching.ts';
import type { NodeProcess } from './node-process.ts';

export type Change = {
  readonly type: string;
  readonly name: string;
  readonly version: number;
  readonly resourceVersion: string;
  readonly title: string;
};

type Shown = {
  readonly metadata: { readonly name: string; readonly version: number; readonly resourceVersion: string };
  readonly spec?: { readonly title?: string };
};

const kept = new Set(['ADDED', 'MODIFIED', 'DELETED']);

/**
 * A client that watches one collection for ever: whenever its watch ends, or on request, it resumes from its position
 * on the other node. The received events must then be the exact suffix of the log.
 */
export class Following {
  readonly changes: Change[] = [];
  /** What ended watches, apart from this client itself: statuses of ERROR frames and of refusals. */
  readonly endings: string[] = [];
  readonly #nodes: readonly NodeProcess[];
  readonly #path: string;
  readonly #transport: Transport;
  #at: number;
  #position: string;
  #watching: Watching | undefined;
  #read = 0;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  #woken: (() => void)[] = [];

  private constructor(nodes: readonly NodeProcess[], options: FollowingOptions) {
    this.#nodes = nodes;
    this.#path = options.path;
    this.#transport = options.transport;
    this.#at = options.at;
    this.#position = options.after;
  }

  static start(nodes: readonly NodeProcess[], options: FollowingOptions): Following {
    const following = new Following(nodes, options);
    following.#running = following.#follow();
    return following;
  }

  get isLive(): boolean {
    return this.#watching?.closed === undefined && this.#watching !== undefined;
  }

  /** Leaves the node it is at and goes on at the other one. */
  move(): void {
    this.#watching?.leave();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#watching?.leave();
    await this.#running;
  }

  /** Resolves once it has a change at `position` or later. */
  async reached(position: string, seconds = 60): Promise<void> {
    const deadline = performance.now() + seconds * 1_000;
    while (BigInt(this.#position) < BigInt(position)) {
      const left = deadline - performance.now();
      if (left <= 0)
        throw new Error(
          `a watch stays at ${this.#position}, before ${position}; it was ended by: ${this.endings.join(', ')}`,
        );
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#woken.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      await this.#watchOnce();
      this.#at = (this.#at + 1) % this.#nodes.length;
    }
  }

  async #watchOnce(): Promise<void> {
    const node = this.#nodes[this.#at]!;
    try {
      const watching = await Watching.open(node.url, `${this.#path}?resourceVersion=${this.#position}`, {
        transport: this.#transport,
        headers: { authorization: adminAuthorization },
      });
      this.#watching = watching;
      this.#read = 0;
      if (this.#stopped) watching.leave();
      while (watching.closed === undefined) {
        await watching.until((now) => now.texts.length > this.#read).catch(() => undefined);
        this.#take(watching);
      }
    } catch (error) {
      // Refused, or no server: the watcher retries a little later.
      this.endings.push(`${node.name} ${error instanceof Error ? error.message : String(error)}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
  }

  #take(watching: Watching): void {
    for (; this.#read < watching.texts.length; this.#read += 1) {
      const { type, object } = JSON.parse(watching.texts[this.#read]!) as WatchedEvent;
      if (kept.has(type)) this.#note(type, object as unknown as Shown);
      else if (type === 'ERROR') this.endings.push(`ERROR ${String(object.code)} ${String(object['message'])}`);
    }
    for (const wake of this.#woken.splice(0)) wake();
  }

  #note(type: string, { metadata, spec }: Shown): void {
    this.#position = metadata.resourceVersion;
    this.changes.push({
      type,
      name: metadata.name,
      version: metadata.version,
      resourceVersion: metadata.resourceVersion,
      title: spec?.title ?? '',
    });
  }
}

export type FollowingOptions = {
  readonly path: string;
  readonly transport: Transport;
  readonly at: number;
  readonly after: string;
};
