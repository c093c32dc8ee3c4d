import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';

import type { Clock } from '../../base/clock.ts';
import { watchKeepAliveMs } from '../../limits/watches.ts';
import { Frames } from '../../watch/frames.ts';
import type { Finish, Outbox } from '../../watch/outbox.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import { pluginEventBytesMax, pluginStreamUnreadMs } from './route-limits.ts';
import {
  crowdedOut,
  forgettingEndings,
  rightsLost,
  streamBeatMs,
  type OpenStream,
  type OpenStreams,
  type StreamEnding,
} from './plugin-streams.ts';
import { thrownMessage } from '../thrown-text.ts';
import { StreamConnection } from '../watch/watch-stream.ts';

const keepAlive = Buffer.from(':\n\n');

export type EventStreamParts = Pick<OpenStream, 'mount' | 'subject' | 'request'> & {
  readonly res: ServerResponse;
  /** The account of the client, for limits of unread data. */
  readonly account: string;
  readonly iterator: AsyncIterator<unknown>;
  readonly clock: Clock;
  readonly streams: OpenStreams;
  /** Called when the stream has ended, for any reason. */
  readonly onOver: () => void;
  /** Called for an error of the plugin that ended the stream. */
  readonly onFailed: (problem: string, error?: unknown) => void;
};

type Taken =
  | { readonly kind: 'next'; readonly result: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'over' };

/**
 * A plugin's server-sent events in one response. No further event is requested from the plugin while the client has too
 * much unread data.
 */
export class EventStream implements OpenStream {
  readonly transport = 'sse';
  readonly mount: OpenStream['mount'];
  readonly subject: OpenStream['subject'];
  readonly request: OpenStream['request'];
  readonly #parts: EventStreamParts;
  /** Events that the connection has not accepted. */
  readonly #outbox: Outbox;
  #isOver = false;
  /** Whether the plugin was notified of the end. */
  #hasLeft = false;
  /** Ends the wait for the plugin's next event. */
  #interrupt: () => void = () => undefined;
  #wroteAt: number;
  /** The start of the wait for the client to read its data, in milliseconds; undefined without a wait. */
  #unreadSince: number | undefined;

  /** Opens the stream. Must be called in a turn in which `OpenStreams.refusal` has returned undefined. */
  constructor(parts: EventStreamParts) {
    this.mount = parts.mount;
    this.subject = parts.subject;
    this.request = parts.request;
    this.#parts = parts;
    this.#wroteAt = parts.clock.monotonic();
    const { res, account, streams } = parts;
    const onOverflow = (): void => {
      this.end(crowdedOut);
    };
    this.#outbox = streams.outboxes.open(new StreamConnection(res), { account, onOverflow });
    streams.add(this);
    // After an `error`, `close` follows and ends the stream.
    res
      .on('error', () => undefined)
      .once('close', () => {
        this.#stop('dropped', () => {
          this.#outbox.closed();
        });
      });
    void this.#run();
  }

  beat(now: number): void {
    if (this.#unreadSince !== undefined && now - this.#unreadSince >= pluginStreamUnreadMs) {
      this.end({ reason: 'too-slow', detail: 'the client does not read' });
    } else if (this.#outbox.unreadBytes === 0 && now - this.#wroteAt > watchKeepAliveMs - streamBeatMs) {
      this.#outbox.push(new Frames(keepAlive));
      this.#wroteAt = now;
    }
  }

  /** Ends the stream after a whole event, so that a browser reconnects with the last event's id. */
  end({ reason }: StreamEnding): void {
    if (this.#isOver) return;
    const rest = forgettingEndings.has(reason) ? 'dropped' : 'sent';
    this.#stop(rest, () => {
      this.#outbox.finish({
        rest,
        last: undefined,
        close: () => {
          this.#parts.res.end();
        },
      });
    });
  }

  hold(): void {
    this.#outbox.hold();
  }

  applyVerdict(isAllowed: boolean): void {
    this.#outbox.applyVerdict(isAllowed);
    if (!isAllowed) this.end(rightsLost);
  }

  async #run(): Promise<void> {
    const { clock, res, onFailed } = this.#parts;
    for (;;) {
      const next = await this.#take();
      if (next.kind === 'over' || this.#isOver) return;
      const frame =
        next.kind === 'threw' ? { problem: 'the iterator of the events threw an error' } : frameOf(next.result);
      if (frame === 'done') break;
      if ('problem' in frame) {
        onFailed(frame.problem, next.kind === 'threw' ? next.error : undefined);
        break;
      }
      this.#wroteAt = clock.monotonic();
      this.#outbox.push(new Frames(frame.bytes));
      if (this.#outbox.unreadBytes >= res.writableHighWaterMark) await this.#drained();
    }
    this.end({ reason: 'done', detail: 'the events have ended' });
  }

  async #drained(): Promise<void> {
    this.#unreadSince = this.#parts.clock.monotonic();
    await this.#outbox.drained();
    this.#unreadSince = undefined;
    // Yields to the event loop. A fast client and a fast plugin would otherwise block all other work.
    await setImmediate();
  }

  /**
   * Requests the next event. The iterator is the plugin's code: it may throw, reject, never settle, or settle after the
   * end.
   */
  async #take(): Promise<Taken> {
    if (this.#isOver) return { kind: 'over' };
    const { iterator } = this.#parts;
    return new Promise((resolve) => {
      this.#interrupt = () => {
        resolve({ kind: 'over' });
      };
      Promise.resolve()
        .then(async () => iterator.next())
        .then(
          (result: unknown) => {
            resolve({ kind: 'next', result });
          },
          (error: unknown) => {
            resolve({ kind: 'threw', error });
          },
        );
    });
  }

  /** Stops reading events. `rest` determines whether queued events are sent or dropped. */
  #stop(rest: Finish['rest'], finish: () => void): void {
    this.#isOver = true;
    this.#outbox.stop(rest, () => {
      this.#leave();
      finish();
    });
  }

  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const { iterator, streams, onOver } = this.#parts;
    streams.delete(this);
    this.#interrupt();
    onOver();
    abandon(iterator);
  }
}

/** Ends the iterator, which may have ended already. */
export function abandon(iterator: AsyncIterator<unknown>): void {
  Promise.resolve()
    .then(async () => iterator.return?.())
    .catch(() => undefined);
}

type Frame = { readonly bytes: Buffer } | { readonly problem: string };

type IteratorStep = {
  done?: unknown;
  value?: unknown;
};

const eventMembers = ['data', 'event', 'id'];

function frameOf(result: unknown): Frame | 'done' {
  try {
    if (!isObjectOrList(result)) return { problem: 'the iterator returned no result object' };
    const { done, value }: IteratorStep = result;
    if (done === true) return 'done';
    if (!isObjectOrList(value)) return { problem: 'a yielded value is not an event object' };
    const unknown = Object.keys(value).find((member) => !eventMembers.includes(member));
    if (unknown !== undefined) {
      const name = JSON.stringify(unknown.slice(0, 64));
      return { problem: `a yielded event has the member ${name}${otherWords(unknown, eventMembers)}` };
    }
    const text = eventText(value);
    if (typeof text !== 'string') return text;
    const bytes = Buffer.from(text);
    return bytes.length > pluginEventBytesMax
      ? { problem: `a yielded event has ${String(bytes.length)} bytes; the limit is ${String(pluginEventBytesMax)}` }
      : { bytes };
  } catch (error) {
    return { problem: `a yielded event is not JSON: ${thrownMessage(error)}` };
  }
}

/** Encodes an event as text (WHATWG HTML, 9.2.5): each line of `data` becomes a `data` line. */
function eventText({
  data,
  event,
  id,
}: {
  readonly data?: unknown;
  readonly event?: unknown;
  readonly id?: unknown;
}): string | { readonly problem: string } {
  if (!isLine(event)) return { problem: 'the name of a yielded event must be a string without line breaks' };
  if (!isLine(id) || id?.includes('\0') === true)
    return { problem: 'the id of a yielded event must be a string without line breaks or NUL' };
  const text: unknown = typeof data === 'string' ? data : JSON.stringify(data);
  if (typeof text !== 'string') return { problem: `the data of a yielded event is not JSON, but ${typeof data}` };
  const lines = /[\r\n]/u.test(text) ? text.split(/\r\n|\r|\n/u).join('\ndata: ') : text;
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${lines}\n\n`;
}

function isLine(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && !/[\r\n]/u.test(value));
}

function isObjectOrList(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
