import { decodeMetadata } from '../../../src/log/event-codec.ts';
import type { World } from '../world.ts';

/** A cause stands before its effects, in the same chain; a step that knows none begins a chain. */
export function checkCauses({ shared, coverage }: World): void {
  const chains = new Map<string, string>();
  for (const recorded of shared.events) {
    const { $causationId: cause, $correlationId: chain, requestId } = decodeMetadata(recorded);
    const where = `${recorded.stream}@${String(recorded.revision)}`;
    if (cause === undefined) {
      if (chain !== requestId) throw new Error(`${where} belongs to the chain ${chain} without a cause`);
    } else {
      if (chains.get(cause) !== chain)
        throw new Error(`${where} of the chain ${chain} follows ${cause} of the chain ${String(chains.get(cause))}`);
      coverage.note(`caused ${recorded.type}`);
    }
    chains.set(recorded.id, chain);
  }
}
