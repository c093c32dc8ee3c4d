import type { CDPSession } from 'playwright-core';

import type { TraceEvent } from './console-visit.ts';

/**
 * Returns the milliseconds of CPU time that the main thread of the page has worked in each frame of a trace. Time in
 * which the machine runs other programs does not count.
 */
export function frameWork(events: readonly TraceEvent[]): readonly number[] {
  const threads = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const frames = threads
    .map(({ pid, tid }) => workOf(events.filter((event) => event.pid === pid && event.tid === tid)))
    // The measured page has the renderer with the most frames. Other renderers, for example of the blank page, have
    // hardly any.
    .sort((left, right) => right.length - left.length)[0];
  if (frames === undefined || frames.length === 0) throw new Error('the trace has no frames');
  return frames;
}

/** A frame begins with `BeginMainThreadFrame`, and includes all tasks until the next one. */
function workOf(events: readonly TraceEvent[]): readonly number[] {
  const begins = events.filter(({ name }) => name === 'BeginMainThreadFrame').map(({ ts }) => ts);
  begins.sort((left, right) => left - right);
  const work = begins.map(() => 0);
  for (const { name, ts, dur = 0, tdur = dur } of events) {
    if (name !== 'RunTask') continue;
    // A task belongs to the last frame that begins before the end of the task, because the mark of a frame is within
    // the frame's first task.
    const frame = begins.findLastIndex((begin) => begin <= ts + dur);
    if (frame >= 0) work[frame] = (work[frame] ?? 0) + tdur / 1_000;
  }
  return work;
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

/** A sample: the time, and the time that the main thread has spent on tasks until then, both in seconds. */
export type Busy = { readonly at: number; readonly tasks: number };

/** Takes a sample of the page. `Performance.enable` must have been sent before. */
export async function busyOf(devTools: CDPSession): Promise<Busy> {
  const { metrics } = await devTools.send('Performance.getMetrics');
  const valueOf = (wanted: string): number => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return { at: valueOf('Timestamp'), tasks: valueOf('TaskDuration') };
}

/** Returns the bytes of the page's heap after a garbage collection. */
export async function heapOf(devTools: CDPSession): Promise<number> {
  await devTools.send('HeapProfiler.enable');
  await devTools.send('HeapProfiler.collectGarbage');
  await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devTools.send('Runtime.getHeapUsage');
  await devTools.send('HeapProfiler.disable');
  return usedSize;
}
