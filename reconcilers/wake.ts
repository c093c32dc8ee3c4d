/** Wakes an idle loop. A `call` while the loop works makes the next wait of the loop return immediately. */
export class Wake {
  #isCalled = false;
  #go: () => void = () => undefined;

  call(): void {
    this.#isCalled = true;
    this.#go();
  }

  /** Resolves after `call` or when the signal aborts. */
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
