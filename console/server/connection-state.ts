import { readonly, shallowRef, type Ref } from 'vue';

import { after } from './browser-clock.ts';

/**
 * `lost`: the last request did not reach the server, or the server is starting. The page then probes the server until
 * it is ready, and everything that is shown stays as it is.
 */
export type ConnectionStatus = 'connected' | 'lost';

const firstProbeMs = 400;
const longestProbeMs = 5_000;

/**
 * The time without an answer after which the page asks whether the server hangs, and the time that a server has to
 * answer a probe, in milliseconds.
 */
export const silenceMs = 4_000;

/** Follows whether the server can be reached. One instance serves the whole page. */
export class ConnectionState {
  readonly #status = shallowRef<ConnectionStatus>('connected');
  readonly #probe: () => Promise<boolean>;
  readonly #restored = new Set<() => void>();
  #probeMs = firstProbeMs;
  #isProbing = false;

  /** `probe` resolves with whether the server is ready. It never rejects. */
  constructor(probe: () => Promise<boolean>) {
    this.#probe = probe;
  }

  get status(): Readonly<Ref<ConnectionStatus>> {
    return readonly(this.#status);
  }

  /** Adds a function that is called whenever the server is reached again. Returns its removal. */
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

  /** Call this when a request has no answer for long: the server may hang. */
  async verify(): Promise<void> {
    if (this.#status.value === 'connected' && !(await this.#probe())) this.lost();
  }

  /** Probes at once, for example because the user asks for it. */
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
