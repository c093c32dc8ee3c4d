import type { MetricLibrary } from './metric-library.ts';

export type MemorySources = {
  /** Bytes that watches and plugins' streams hold for slow readers. */
  readonly streamBufferBytes: () => number;
};

/**
 * The memory that clients make the server hold. The library's default metrics contain the memory of the process
 * (`process_resident_memory_bytes`, `nodejs_heap_size_used_bytes`).
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
