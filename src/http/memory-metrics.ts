import type { MetricLibrary } from './metric-library.ts';

export type MemorySources = {
  /** The number of bytes that watches and plugins' streams buffer for slow clients. */
  readonly streamBufferBytes: () => number;
};

/** Defines the memory metrics. The library's default metrics cover the process. */
export function defineMemory({ streamBufferBytes }: MemorySources, library: MetricLibrary): void {
  const { Gauge, registers, collectDefaultMetrics } = library;
  collectDefaultMetrics({ register: registers[0] });
  new Gauge({
    name: 'ledgerplane_stream_buffer_bytes',
    registers,
    help: 'Bytes that watches and streams of plugins buffer because their clients have not read them.',
    collect() {
      this.set(streamBufferBytes());
    },
  });
}
