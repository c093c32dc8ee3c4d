import type { Loading } from '../load/loading.ts';

/** The load of one plugin's module, which may continue while the plugin is disabled or waits. */
export class PluginModule {
  #loading: Loading | undefined;
  /** Set while a step waits for the module. */
  #wake: (() => void) | undefined;
  #failedLoads = 0;

  /** The module while it loads, until a step takes or drops it. */
  get loading(): Loading | undefined {
    return this.#loading;
  }

  /** Whether a step waits for the module. */
  get isAwaited(): boolean {
    return this.#wake !== undefined;
  }

  /** The number of failed loads. Each retry uses a new URL, because the runtime caches failed modules. */
  get failedLoads(): number {
    return this.#failedLoads;
  }

  begin(loading: Loading): void {
    this.#loading = loading;
  }

  /** Ends the wait for this load, or drops it; its module may still run. */
  end(): Loading | undefined {
    const loading = this.#loading;
    this.#loading = undefined;
    return loading;
  }

  countFailure(): void {
    this.#failedLoads += 1;
  }

  /** Resolves with the load, or with undefined if woken before. */
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

  /** Makes a step that waits for the module check the desired state again. */
  wake(): void {
    this.#wake?.();
  }
}
