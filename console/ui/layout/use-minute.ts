import { onScopeDispose, readonly, shallowRef, type Ref } from 'vue';

import { every, now } from '../../server/browser-clock.ts';

const stepMs = 20_000;
const time = shallowRef(now());
let users = 0;
let end: (() => void) | undefined;

/**
 * The time in epoch milliseconds, updated every 20 seconds while a component shows an age. All components share one
 * timer.
 */
export function useMinute(): Readonly<Ref<number>> {
  users += 1;
  time.value = now();
  end ??= every(stepMs, () => {
    time.value = now();
  });
  onScopeDispose(() => {
    users -= 1;
    if (users > 0) return;
    end?.();
    end = undefined;
  });
  return readonly(time);
}
