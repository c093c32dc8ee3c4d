import type { Counter, Gauge, Registry } from 'prom-client';

/** The library's constructors, which are loaded on demand, and the registry of the metrics. */
export type MetricLibrary = {
  readonly Counter: typeof Counter;
  readonly Gauge: typeof Gauge;
  readonly registers: Registry[];
};
