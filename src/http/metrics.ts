import type { Registry } from 'prom-client';

import { defineMetrics, type MetricSources } from './metric-definitions.ts';

export type { EventLoopSource } from './metric-definitions.ts';

/** The node's metrics in Prometheus' text format. The library is loaded at the first scrape. */
export class Metrics {
  readonly #sources: MetricSources;
  readonly #answered: number[] = Array.from({ length: 600 }, () => 0);
  #registry: Promise<Registry> | undefined;

  constructor(sources: MetricSources) {
    this.#sources = sources;
  }

  answered(status: number): void {
    this.#answered[status] = (this.#answered[status] ?? 0) + 1;
  }

  async text(): Promise<string> {
    this.#registry ??= this.#open();
    return (await this.#registry).metrics();
  }

  async #open(): Promise<Registry> {
    const { Registry: Registered, ...library } = await import('prom-client');
    const registry = new Registered();
    defineMetrics(this.#sources, this.#answered, { ...library, registers: [registry] });
    return registry;
  }
}
