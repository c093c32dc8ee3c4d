import { onScopeDispose, shallowRef, type Ref } from 'vue';

import { retried } from './retried.ts';

/** An object of a bulk action. */
export type Chosen = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
};

/** The result for one object: a value, or the error with which the server refused the request. */
export type Outcome<T> = { readonly object: Chosen } & (
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }
);

export type BulkRun<T> = {
  readonly isRunning: Readonly<Ref<boolean>>;
  /** The outcomes so far, in the order in which they arrived. */
  readonly outcomes: Readonly<Ref<readonly Outcome<T>[]>>;
  readonly total: Readonly<Ref<number>>;
  /**
   * Calls `act` for each object, several at a time. Resolves with all outcomes, or after `stop` with the outcomes so
   * far.
   */
  readonly start: (
    objects: readonly Chosen[],
    act: (object: Chosen, signal: AbortSignal) => Promise<T>,
  ) => Promise<readonly Outcome<T>[]>;
  /** Sends no further requests, and waits for the pending requests. */
  readonly stop: () => void;
};

/** The number of concurrent requests. A browser opens at most six connections to a server, and a watch uses one. */
const concurrent = 4;

/** Runs an action for each of many objects. Stops when the component is unmounted. */
export function useBulkRun<T>(): BulkRun<T> {
  const isRunning = shallowRef(false);
  const outcomes = shallowRef<readonly Outcome<T>[]>([]);
  const total = shallowRef(0);
  let stopping = new AbortController();
  const leaving = new AbortController();
  const stop = (): void => {
    stopping.abort();
  };
  onScopeDispose(() => {
    stop();
    leaving.abort();
  });
  return {
    isRunning,
    outcomes,
    total,
    stop,
    start: async (objects, act) => {
      stop();
      stopping = new AbortController();
      const { signal } = stopping;
      const isStopped = (): boolean => signal.aborted;
      const waiting = [...objects];
      let found: readonly Outcome<T>[] = [];
      isRunning.value = true;
      outcomes.value = found;
      total.value = objects.length;
      const work = async (): Promise<void> => {
        for (let object = waiting.shift(); object !== undefined && !isStopped(); object = waiting.shift()) {
          const outcome = await outcomeOf(object, async (each) => act(each, leaving.signal), signal);
          if (isStopped() && !outcome.ok) return;
          found = [...found, outcome];
          outcomes.value = found;
        }
      };
      await Promise.all(Array.from({ length: concurrent }, work));
      if (stopping.signal === signal) isRunning.value = false;
      return found;
    },
  };
}

async function outcomeOf<T>(
  object: Chosen,
  act: (object: Chosen) => Promise<T>,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  try {
    return { object, ok: true, value: await retried(async () => act(object), signal) };
  } catch (error) {
    return { object, ok: false, error };
  }
}
