import { setPriority } from 'node:os';

/** `late`: the lowest priority of background work, below the work that a client waits for. */
const nicenesses = { background: 10, late: 15 };

/**
 * Lowers the priority of this thread below that of requests. On other systems than Linux, the call would affect the
 * whole process.
 */
export function yieldToRequests(to: keyof typeof nicenesses = 'background'): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(nicenesses[to]);
  } catch {
    // Without the permission, the thread keeps its priority.
  }
}
