import { setPriority } from 'node:os';

const niceness = 10;

/**
 * Gives requests priority over this thread: on Linux this lowers the priority of the thread; elsewhere it would lower
 * that of the process.
 */
export function yieldToRequests(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(niceness);
  } catch {
    // Without the permission, this thread and requests have equal priority.
  }
}
