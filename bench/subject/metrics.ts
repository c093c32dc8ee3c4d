import { send } from './client.ts';

/** Returns the value of a series of the server's metrics, by name with labels; NaN if the series is missing. */
export type MetricReader = (series: string) => number;

export async function readMetrics(url: string): Promise<MetricReader> {
  const lines = (await send(url, 'GET', '/metrics')).toString('utf8').split('\n');
  return (series) => Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length));
}

export type Held = { readonly p50Ms: number; readonly maxMs: number };

/** Returns the delay of the server's timers while `task` runs: the median, and the longest block of the event loop. */
export async function heldWhile(url: string, task: () => Promise<void>): Promise<Held> {
  // A scrape starts a new interval of the server's measurement.
  await readMetrics(url);
  await task();
  const metric = await readMetrics(url);
  const lagMs = (quantile: string): number =>
    metric(`ledgerplane_event_loop_lag_seconds{quantile="${quantile}"}`) * 1_000;
  return { p50Ms: lagMs('0.5'), maxMs: lagMs('1') };
}
