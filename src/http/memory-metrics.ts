import type { MetricLibrary } from './metric-library.ts';

export type MemorySources = {
  /** The number of bytes that watches and plugins' streams buffer for slow clients. */
  readonly streamBufferBytes: () => number;
};

/**
 * Defines the metric for memory that the server uses for slow clients. The library's default metrics contain the memory
 * of the process (`process_resident_memory_bytes`, `nodejs_heap_size_used_bytes`).
 */
export function defineMemory({ streamBufferBytes }: MemorySources, { Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_stream_buffer_bytes',
    registers,
    help: 'Bytes that watches and streams of plugins buffer because their clients have not read them.',
    collect() {
      this.set(streamBufferBytes());
    },
  });
}
