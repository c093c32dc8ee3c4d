import { setPriority } from 'node:os';

const niceness = 10;

/**
 * Lowers the priority of this thread below that of requests. Works on Linux only: on other systems the call would lower
 * the priority of the whole process.
 */
export function yieldToRequests(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(niceness);
  } catch {
    // Without the permission, this thread keeps the priority of requests.
  }
}
