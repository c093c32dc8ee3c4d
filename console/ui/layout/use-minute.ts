import { onScopeDispose, readonly, shallowRef, type Ref } from 'vue';

import { every, now } from '../../server/browser-clock.ts';

const stepMs = 20_000;
const time = shallowRef(now());
let users = 0;
let end: (() => void) | undefined;

/** The time in epoch milliseconds, renewed every 20 seconds while any component shows an age. One timer serves all. */
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
