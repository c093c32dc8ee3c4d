/** What a loop waits for that has nothing to do. Called meanwhile, it does not wait the next time. */
export class Wake {
  #isCalled = false;
  #go: () => void = () => undefined;

  call(): void {
    this.#isCalled = true;
    this.#go();
  }

  /** Resolves once it is called, or the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#isCalled && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          signal.removeEventListener('abort', go);
          resolve();
        };
        this.#go = go;
        signal.addEventListener('abort', go);
      });
    }
    this.#isCalled = false;
  }
}
