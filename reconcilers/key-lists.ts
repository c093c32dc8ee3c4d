import { setImmediate as nextTurn } from 'node:timers/promises';

import type { CausingEvent } from '../src/command/event.ts';
import type { ControllerOptions, Keys } from './controller-options.ts';
import { retryMs } from './failures.ts';

export type KeyList = {
  readonly keys: () => Keys;
  readonly cause: CausingEvent | undefined;
  /** Whether the term of the list has ended. */
  readonly isOver: () => boolean;
};

export type KeyListPorts = Pick<ControllerOptions, 'bound' | 'clock' | 'onError'> & {
  readonly enqueue: (key: string, cause: CausingEvent | undefined) => void;
  /** Called when a list has been read, or its reading has failed. */
  readonly onEnd: () => void;
};

/** Reads lists of keys over several turns of the event loop. After a failure, a list is read again later. */
export class KeyLists {
  readonly #ports: KeyListPorts;
  #reading = 0;

  constructor(ports: KeyListPorts) {
    this.#ports = ports;
  }

  get isReading(): boolean {
    return this.#reading > 0;
  }

  async read(list: KeyList, attempt = 1): Promise<void> {
    const { enqueue, bound, clock, onError, onEnd } = this.#ports;
    this.#reading += 1;
    try {
      for (const key of list.keys()) {
        if (key !== undefined) enqueue(key, list.cause);
        if (!bound.isTurnOver()) continue;
        await nextTurn();
        // The term is checked before the next key is read, since the source of keys may be invalid after the term.
        if (list.isOver()) break;
      }
    } catch (error) {
      onError(error, '', attempt);
      clock.after(retryMs(attempt), () => {
        if (!list.isOver()) void this.read(list, attempt + 1);
      });
    } finally {
      this.#reading -= 1;
      onEnd();
    }
  }
}
