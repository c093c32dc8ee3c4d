import type { Registry } from 'prom-client';

import { RequestCounts } from './metrics/samples/request-counts.ts';
import { defineMetrics, type MetricSources } from './metric-definitions.ts';

export type { EventLoopSource, MetricSources } from './metric-definitions.ts';

/** The node's metrics in Prometheus' text format. The library is loaded at the first scrape. */
export class Metrics {
  readonly #sources: MetricSources;
  readonly #requests: RequestCounts;
  #registry: Promise<Registry> | undefined;

  constructor(sources: MetricSources, requests = new RequestCounts()) {
    this.#sources = sources;
    this.#requests = requests;
  }

  /** Counts a response. `latencyMs` is undefined for a stream. */
  answered(status: number, latencyMs: number | undefined): void {
    this.#requests.answered(status, latencyMs);
  }

  async text(): Promise<string> {
    this.#registry ??= this.#open();
    return (await this.#registry).metrics();
  }

  async #open(): Promise<Registry> {
    const { Registry: Registered, ...library } = await import('prom-client');
    const registry = new Registered();
    defineMetrics(this.#sources, this.#requests.byStatus, { ...library, registers: [registry] });
    return registry;
  }
}
