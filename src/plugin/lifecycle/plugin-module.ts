import type { Loading } from '../load/loading.ts';

/** The load of one plugin's module. The load may continue while the plugin is disabled or waits for a dependency. */
export class PluginModule {
  #loading: Loading | undefined;
  /** Set while a step waits for the module. */
  #wake: (() => void) | undefined;
  #failedLoads = 0;

  /** The current load, until a step takes or drops the result. */
  get loading(): Loading | undefined {
    return this.#loading;
  }

  /** Whether a step waits for the module. */
  get isAwaited(): boolean {
    return this.#wake !== undefined;
  }

  /** The number of failed loads. Each retry uses a new URL, because Node caches failed modules. */
  get failedLoads(): number {
    return this.#failedLoads;
  }

  begin(loading: Loading): void {
    this.#loading = loading;
  }

  /** Removes and returns the current load. The module may still run. */
  end(): Loading | undefined {
    const loading = this.#loading;
    this.#loading = undefined;
    return loading;
  }

  countFailure(): void {
    this.#failedLoads += 1;
  }

  /** Resolves to the result of the load, or to undefined if `wake` is called before the load ends. */
  async waitFor({ done }: Loading): Promise<Awaited<Loading['done']> | undefined> {
    const woken = new Promise<undefined>((resolve) => {
      this.#wake = () => {
        resolve(undefined);
      };
    });
    const load = await Promise.race([done, woken]);
    this.#wake = undefined;
    return load;
  }

  /** Ends the wait for the module, so that the waiting step checks the desired state again. */
  wake(): void {
    this.#wake?.();
  }
}
