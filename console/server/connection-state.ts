import { readonly, shallowRef, type Ref } from 'vue';

import { after } from './browser-clock.ts';

/**
 * `lost`: the last request did not reach the server, or the server is starting. The page then probes the server until
 * it is ready, and keeps its content.
 */
export type ConnectionStatus = 'connected' | 'lost';

const firstProbeMs = 400;
const longestProbeMs = 5_000;

/**
 * The time in milliseconds without a response after which the page probes the server, and the time limit of a probe.
 */
export const silenceMs = 4_000;

/** The state of the connection to the server. One instance serves the whole page. */
export class ConnectionState {
  readonly #status = shallowRef<ConnectionStatus>('connected');
  readonly #probe: () => Promise<boolean>;
  readonly #restored = new Set<() => void>();
  #probeMs = firstProbeMs;
  #isProbing = false;

  /** `probe` resolves with true if the server is ready. It never rejects. */
  constructor(probe: () => Promise<boolean>) {
    this.#probe = probe;
  }

  get status(): Readonly<Ref<ConnectionStatus>> {
    return readonly(this.#status);
  }

  /** Adds a function that is called whenever the server becomes reachable again. Returns a function that removes it. */
  onRestored(task: () => void): () => void {
    this.#restored.add(task);
    return () => {
      this.#restored.delete(task);
    };
  }

  /** Call this when a request did not reach the server, or the server is not ready. */
  lost(): void {
    this.#status.value = 'lost';
    if (this.#isProbing) return;
    this.#isProbing = true;
    this.#probeMs = firstProbeMs;
    this.#probeLater();
  }

  /** Call this when a response is overdue, because the server may hang. */
  async verify(): Promise<void> {
    if (this.#status.value === 'connected' && !(await this.#probe())) this.lost();
  }

  /** Probes at once, for example on request of the user. */
  async retry(): Promise<void> {
    if (this.#status.value === 'lost' && (await this.#probe())) this.#restore();
  }

  #probeLater(): void {
    after(this.#probeMs, () => {
      this.#probeMs = Math.min(this.#probeMs * 1.6, longestProbeMs);
      void this.#probe().then((isReady) => {
        if (isReady) this.#restore();
        else if (this.#status.value === 'lost') this.#probeLater();
        else this.#isProbing = false;
      });
    });
  }

  #restore(): void {
    this.#isProbing = false;
    if (this.#status.value === 'connected') return;
    this.#status.value = 'connected';
    for (const task of this.#restored) task();
  }
}
