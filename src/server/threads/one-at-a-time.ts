import type { LaterMessage, ThreadMessage } from './message-thread.ts';

/** A request that a thread serves. */
export type Run<Reason> = {
  /** The next message of the thread; undefined after the last one. */
  next(): Promise<ThreadMessage<Reason> | LaterMessage | undefined>;
  /** The lines of the response, if the first message accepts the request. */
  lines(): AsyncIterable<Uint8Array>;
  /** Ends the thread, and resolves after its end. May be called repeatedly. */
  stop(): Promise<void>;
};

type Refusal<Reason> = { readonly ok: false; readonly reason: Reason; readonly detail: string };
type Answer = { readonly ok: true; readonly lines: AsyncIterable<Uint8Array> };

/** Serves one request at a time. */
export class OneAtATime {
  readonly #name: string;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  /** `name`: the name of a run in messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /** The refusal of a request while another one is served. */
  busy(): Refusal<'too-many-requests'> | undefined {
    if (this.#running === undefined) return undefined;
    const detail = `another ${this.#name} is running: one runs at a time`;
    return { ok: false, reason: 'too-many-requests', detail };
  }

  /**
   * Serves a request; call this when `busy` returns undefined. `begin` starts the run, which ends when its signal
   * aborts: the caller has disconnected, or the server stops. The returned lines must be iterated.
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
    // The lines, or the refusal, report an error: both wait for the end too.
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

  /** Ends the request that is served, and resolves after its end. */
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
