import type { Clock, Timer } from '../base/clock.ts';
import { decodeFrame, MalformedWatchError, type Frame } from './decode-answer.ts';
import { LineSplitter } from './line-splitter.ts';
import type { Query, Requests } from './requests.ts';
import { cancelBody } from './until-aborted.ts';

export type StreamOptions = {
  readonly path: string;
  readonly query: Query;
  readonly accept?: string | undefined;
  readonly signal: AbortSignal;
  /**
   * The time in milliseconds without data after which a connection is considered dead. The server sends data at least
   * every 10 s.
   */
  readonly silenceMs: number;
};

/**
 * Yields the events of one connection: an array for each chunk, empty for a keep-alive. Returns when the server ends
 * the connection. Rejects if the connection is lost or silent, or if the data is malformed. Rejects with a
 * `ClientError` after a refusal or an ERROR event. Events before an ERROR event are yielded first. Data is read only as
 * fast as the caller consumes the events.
 */
export async function* streamedFrames<T>(
  requests: Requests,
  { path, query, accept, signal, silenceMs }: StreamOptions,
): AsyncGenerator<readonly Frame<T>[], void, undefined> {
  const connection = new AbortController();
  const end = (): void => {
    connection.abort(signal.reason);
  };
  signal.throwIfAborted();
  signal.addEventListener('abort', end, { once: true });
  const silence = new Silence(requests.clock, silenceMs, connection);
  try {
    const response = await silence.limited(requests.send(path, { query, accept, signal: connection.signal }));
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
    if (reader === undefined) throw new MalformedWatchError('the response to the watch has no body');
    connection.signal.addEventListener(
      'abort',
      () => {
        cancelBody(reader);
      },
      { once: true },
    );
    const splitter = new LineSplitter();
    for (;;) {
      const { done, value } = await silence.limited(reader.read());
      connection.signal.throwIfAborted();
      if (done) return;
      yield* decoded<T>(splitter.push(value));
    }
  } catch (error) {
    signal.throwIfAborted();
    throw isOurs(error) ? error : requests.cut(error);
  } finally {
    signal.removeEventListener('abort', end);
    connection.abort();
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof Error && ['ClientError', 'ConnectionError', 'MalformedWatchError'].includes(error.name);
}

function* decoded<T>(lines: readonly string[]): Generator<readonly Frame<T>[], void, undefined> {
  const frames: Frame<T>[] = [];
  try {
    for (const line of lines) frames.push(decodeFrame<T>(line));
  } catch (error) {
    if (frames.length > 0) yield frames;
    throw error;
  }
  yield frames;
}

/** Ends a connection that sends no data for `ms`. The time in which the consumer processes events is not counted. */
class Silence {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #connection: AbortController;

  constructor(clock: Clock, ms: number, connection: AbortController) {
    this.#clock = clock;
    this.#ms = ms;
    this.#connection = connection;
  }

  async limited<T>(work: Promise<T>): Promise<T> {
    const timer: Timer = this.#clock.after(this.#ms, () => {
      this.#connection.abort(new Error(`the server sent no data for ${String(this.#ms / 1_000)} s`));
    });
    try {
      return await work;
    } finally {
      timer.cancel();
    }
  }
}
