import { ownerOf, type CodeFolders } from './error-attribution.ts';
import { processListenersMax } from '../lifecycle/life-limits.ts';
import type { PluginLogger } from '../api/plugin.ts';

/** The members of `process` that `ProcessListeners` uses. */
export type Emitter = {
  on(event: 'newListener', listener: (event: string | symbol, listener: object) => void): unknown;
  off(event: 'newListener', listener: (event: string | symbol, listener: object) => void): unknown;
  listeners(event: string | symbol): readonly unknown[];
};

type Listening = {
  readonly event: string | symbol;
  readonly listener: WeakRef<object>;
};

/**
 * Records which plugin adds a listener to `process`, by the stack of the call. Warns about listeners that remain after
 * their plugin has stopped.
 */
export class ProcessListeners {
  readonly #process: Emitter;
  readonly #suspects: CodeFolders;
  readonly #log: PluginLogger;
  readonly #listening = new Map<string, Listening[]>();

  constructor(process: Emitter, suspects: CodeFolders, log: PluginLogger) {
    this.#process = process;
    this.#suspects = suspects;
    this.#log = log;
  }

  open(): void {
    this.#process.on('newListener', this.#record);
  }

  close(): void {
    this.#process.off('newListener', this.#record);
  }

  /** Logs the events for which a stopped plugin still has listeners, once for each stop. */
  logRemaining(plugin: string): void {
    const left = (this.#listening.get(plugin) ?? []).filter(({ event, listener }) => {
      const found = listener.deref();
      return found !== undefined && this.#process.listeners(event).some((present) => present === found);
    });
    this.#listening.delete(plugin);
    if (left.length > 0)
      this.#log.warn('a stopped plugin still listens to process events', {
        plugin,
        events: left.map(({ event }) => String(event)),
      });
  }

  readonly #record = (event: string | symbol, listener: object): void => {
    const owner = ownerOf(new Error().stack ?? '', this.#suspects.all());
    if (owner === undefined) return;
    const listening = this.#listening.get(owner.name) ?? [];
    if (listening.length < processListenersMax) listening.push({ event, listener: new WeakRef(listener) });
    this.#listening.set(owner.name, listening);
  };
}
