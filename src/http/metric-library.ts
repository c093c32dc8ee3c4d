import type { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

/** The exports of `prom-client`, and the registry of the metrics. */
export type MetricLibrary = {
  readonly Counter: typeof Counter;
  readonly Gauge: typeof Gauge;
  readonly collectDefaultMetrics: typeof collectDefaultMetrics;
  readonly registers: [Registry];
};
