import type { MetricLibrary } from './metric-library.ts';

export type MemorySources = {
  /** Bytes that watches and plugins' streams hold for slow readers. */
  readonly streamBufferBytes: () => number;
};

/**
 * The memory that clients make the server hold. The process's own (`process_resident_memory_bytes`,
 * `nodejs_heap_size_used_bytes`) is among the library's default metrics.
 */
export function defineMemory({ streamBufferBytes }: MemorySources, { Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_stream_buffer_bytes',
    registers,
    help: 'Bytes that watches and streams of plugins hold in memory because their clients have not read them.',
    collect() {
      this.set(streamBufferBytes());
    },
  });
}
