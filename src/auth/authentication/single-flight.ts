type Work<Result> = (abandoned: AbortSignal) => Promise<Result>;
type Running<Result> = {
  readonly result: Promise<Result>;
  readonly abandoned: AbortController;
  waiting: number;
};

/**
 * Shares one run of `work` among concurrent calls with the same key. The signal of `work` aborts when no caller waits
 * any more.
 */
export class SingleFlight<Result> {
  readonly #running = new Map<string, Running<Result>>();

  /** Starts `work`, or waits for the run with the same key. `disconnected` aborts when the caller no longer waits. */
  async run(key: string, work: Work<Result>, disconnected: AbortSignal | undefined): Promise<Result> {
    const running = this.#running.get(key) ?? this.#start(key, work);
    running.waiting += 1;
    const leave = (): void => {
      running.waiting -= 1;
      if (running.waiting > 0) return;
      // An aborted run must not be shared with a later caller.
      this.#end(key, running);
      running.abandoned.abort();
    };
    if (disconnected?.aborted === true) leave();
    else disconnected?.addEventListener('abort', leave, { once: true });
    try {
      return await running.result;
    } finally {
      disconnected?.removeEventListener('abort', leave);
    }
  }

  #start(key: string, work: Work<Result>): Running<Result> {
    const abandoned = new AbortController();
    const running: Running<Result> = {
      result: work(abandoned.signal).finally(() => {
        this.#end(key, running);
      }),
      abandoned,
      waiting: 0,
    };
    this.#running.set(key, running);
    return running;
  }

  #end(key: string, running: Running<Result>): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
  }
}
