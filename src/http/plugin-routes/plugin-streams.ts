import type { Clock } from '../../base/clock.ts';
import type { Subject } from '../../command/subject.ts';
import type { Allows } from '../../watch/guard.ts';
import type { Outboxes } from '../../watch/outbox.ts';
import { Reviews, type Reviewed } from '../../watch/reviews.ts';
import { Wheel } from '../../watch/wheel.ts';
import type { Exchange } from '../exchange.ts';
import { problem, type Problem } from '../problem.ts';
import { pluginStreamsMax, pluginStreamsPerPluginMax } from './route-limits.ts';

/** The endpoints of a plugin from one `mount` or `announce` until the next, or until `unmount`. */
export type Mount = {
  readonly plugin: string;
  readonly serving: boolean;
  /** Whether the endpoints were replaced or unmounted. No new calls start then. */
  isOver: boolean;
};

/** The reasons for the end of a stream, with their close codes (RFC 6455, 7.4). */
export const streamEndings = {
  done: 1000,
  failed: 1011,
  'too-slow': 1013,
  'plugin-stopped': 1012,
  'shutting-down': 1012,
  'rights-lost': 4403,
  unresponsive: 1006,
} as const;
/** Endings that drop unsent data, because the client is too slow or no longer has the right to read the data. */
export const forgettingEndings: ReadonlySet<StreamEnding['reason']> = new Set(['too-slow', 'rights-lost']);
export const rightsLost: StreamEnding = { reason: 'rights-lost', detail: 'this stream is no longer allowed' };
export const crowdedOut: StreamEnding = {
  reason: 'too-slow',
  detail: 'the unread data of this user or of all users exceeds a limit; connect again',
};

export type StreamEnding = {
  readonly reason: keyof typeof streamEndings;
  readonly detail: string;
};

/** An open stream of a plugin: server-sent events or a WebSocket. No method waits or throws. */
export type OpenStream = Reviewed & {
  readonly transport: 'sse' | 'websocket';
  readonly mount: Mount;
  readonly subject: Subject;
  /** The authorized request. */
  readonly request: Exchange['info'];
  /** Sends keep-alives, and ends the stream if the client or the plugin exceeds a time limit. */
  beat(now: number): void;
  end(ending: StreamEnding): void;
};

export type StreamCount = Pick<OpenStream, 'transport'> & {
  readonly plugin: string;
  readonly count: number;
};

/** The interval of `beat` for each stream. A keep-alive may be early, and an end late, by up to this time. */
export const streamBeatMs = 1_000;
const wheelSlots = 10;

export function hasStopped({ plugin }: Mount): Problem {
  return problem('unavailable', `the plugin ${plugin} has stopped`, { retryAfterSeconds: 1 });
}

export class OpenStreams {
  /** The unread data of the streams' clients, within limits that watches share. */
  readonly outboxes: Outboxes;
  readonly #wheel: Wheel<OpenStream>;
  readonly #reviews: Reviews<OpenStream>;
  readonly #counts = new Map<string, number>();
  #isClosed = false;

  constructor(clock: Clock, outboxes: Outboxes) {
    this.outboxes = outboxes;
    this.#reviews = new Reviews(outboxes.slices);
    this.#wheel = new Wheel(clock, { periodMs: streamBeatMs, slots: wheelSlots }, (stream, now) => {
      stream.beat(now);
    });
  }

  get size(): number {
    return this.#wheel.size;
  }

  /** Counts the open streams at each call, because the numbers are rarely read. */
  counts(): readonly StreamCount[] {
    const counts = new Map<string, StreamCount>();
    for (const {
      mount: { plugin },
      transport,
    } of this.#wheel.items()) {
      const key = `${plugin}/${transport}`;
      counts.set(key, {
        plugin,
        transport,
        count: (counts.get(key)?.count ?? 0) + 1,
      });
    }
    return [...counts.values()];
  }

  /** Returns the reason why no stream can be opened now; undefined if a stream can be opened in this turn. */
  refusal(mount: Mount): Problem | undefined {
    const { plugin } = mount;
    if (this.#isClosed) return problem('unavailable', 'the server is shutting down', { retryAfterSeconds: 1 });
    if (mount.isOver) return hasStopped(mount);
    if (this.#wheel.size >= pluginStreamsMax)
      return problem('too-many-requests', 'too many streams are open on this server', { retryAfterSeconds: 10 });
    if ((this.#counts.get(plugin) ?? 0) >= pluginStreamsPerPluginMax)
      return problem('too-many-requests', `too many streams of the plugin ${plugin} are open on this server`, {
        retryAfterSeconds: 10,
      });
    return undefined;
  }

  add(stream: OpenStream): void {
    const { plugin } = stream.mount;
    this.#wheel.add(stream);
    this.#counts.set(plugin, (this.#counts.get(plugin) ?? 0) + 1);
  }

  delete(stream: OpenStream): void {
    const { plugin } = stream.mount;
    const left = (this.#counts.get(plugin) ?? 1) - 1;
    this.#wheel.delete(stream);
    if (left === 0) this.#counts.delete(plugin);
    else this.#counts.set(plugin, left);
  }

  endMount(mount: Mount): void {
    this.#endWhere((stream) => stream.mount === mount, {
      reason: 'plugin-stopped',
      detail: `the plugin ${mount.plugin} has stopped; connect again`,
    });
  }

  /** Ends every stream that is no longer allowed after a change of rights or an expiry of credentials. */
  recheck(allows: Allows): void {
    this.#reviews.begin(this.#wheel.items(), ({ subject, request }) => allows(subject, request));
  }

  /** Ends all streams for a shutdown. Clients may connect again; this node opens no new streams. */
  closeAll(): void {
    this.#isClosed = true;
    this.#endWhere(() => true, { reason: 'shutting-down', detail: 'the server is shutting down; connect again' });
  }

  #endWhere(concerns: (stream: OpenStream) => boolean, ending: StreamEnding): void {
    for (const stream of this.#wheel.items()) if (concerns(stream)) stream.end(ending);
  }
}
