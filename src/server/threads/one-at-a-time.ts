import type { LaterMessage, ThreadMessage } from './message-thread.ts';

/** A request that a thread serves. */
export type Run<Reason> = {
  /** Waits for the next message of the thread; undefined after the last message. */
  next(): Promise<ThreadMessage<Reason> | LaterMessage | undefined>;
  /** Returns the lines of the response. Must be called only if the first message is `accepted`. */
  lines(): AsyncIterable<Uint8Array>;
  /** Ends the thread, and waits for the end. May be called repeatedly. */
  stop(): Promise<void>;
};

type Refusal<Reason> = {
  readonly ok: false;
  readonly reason: Reason;
  readonly detail: string;
};
type Answer = {
  readonly ok: true;
  readonly lines: AsyncIterable<Uint8Array>;
};

/** Serves requests of one kind, one at a time. */
export class OneAtATime {
  readonly #name: string;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  /** `name` is the noun for a request in messages, for example `replay`. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Returns a refusal while another request is served; otherwise undefined. */
  busy(): Refusal<'too-many-requests'> | undefined {
    if (this.#running === undefined) return undefined;
    const detail = `another ${this.#name} is running: only one runs at a time`;
    return { ok: false, reason: 'too-many-requests', detail };
  }

  /**
   * Serves a request. Must be called only if `busy` returns undefined. The run ends when its signal aborts, because the
   * caller has disconnected or the server stops. The returned lines must be iterated.
   */
  async serve<Reason>(
    signal: AbortSignal,
    begin: (signal: AbortSignal) => Run<Reason> | Promise<Run<Reason>>,
  ): Promise<Answer | Refusal<Reason | 'unavailable'>> {
    const over = this.#occupy();
    const ending = AbortSignal.any([signal, this.#stopping.signal]);
    let run: Run<Reason>;
    try {
      run = await begin(ending);
    } catch (error) {
      over();
      throw error;
    }
    const end = async (): Promise<void> => run.stop().finally(over);
    // An error is ignored here, because the response or the refusal also calls `end`, and reports it.
    const leave = (): void => void end().catch(() => undefined);
    ending.addEventListener('abort', leave);
    if (ending.aborted) leave();
    const first = await run.next();
    if (first?.kind === 'accepted') return { ok: true, lines: ended(run.lines(), end) };
    await end();
    if (first?.kind === 'refused') return { ok: false, reason: first.reason, detail: first.detail };
    const detail = first?.kind === 'failed' ? first.detail : `the ${this.#name} was stopped`;
    return { ok: false, reason: 'unavailable', detail };
  }

  /** Ends the current request, and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #occupy(): () => void {
    let over: () => void = () => undefined;
    this.#running = new Promise((resolve) => {
      over = () => {
        this.#running = undefined;
        resolve();
      };
    });
    return over;
  }
}

async function* ended(lines: AsyncIterable<Uint8Array>, end: () => Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* lines;
  } finally {
    await end();
  }
}
