/**
 * The timers and the time of the page. All other files of the console use this file, so that tests can control every
 * timer.
 */

/** Calls `task` once after `ms`. Returns a function that cancels the call. */
export function after(ms: number, task: () => void): () => void {
  const handle = window.setTimeout(task, ms);
  return () => {
    window.clearTimeout(handle);
  };
}

/** Calls `task` every `ms`. Returns a function that ends the calls. */
export function every(ms: number, task: () => void): () => void {
  const handle = window.setInterval(task, ms);
  return () => {
    window.clearInterval(handle);
  };
}

/** Returns the time in milliseconds since the Unix epoch. */
export function now(): number {
  return Date.now();
}
