import type { ResourceType } from '../resource/type/resource-type.ts';
import { SlowCalls, type SlowCallsDependencies } from '../command/hooks/slow-calls.ts';

/**
 * The number of slow calls of one conversion function. `conversion` names the two versions, such as `v1alpha1 to v1`.
 */
export type ConversionCount = {
  readonly plugin: string;
  readonly type: string;
  readonly conversion: string;
  readonly slow: number;
};

/** The registered types, and a subscription to later registrations. */
type RegisteredTypes = {
  all(): readonly { readonly type: ResourceType }[];
  subscribe(listener: (registration: { readonly type: ResourceType }, change: string) => void): unknown;
};

/** Measures the calls of conversion functions, which occur in reads, writes and index builds. */
export class WatchedConversions {
  readonly #slow: SlowCalls<Omit<ConversionCount, 'slow'>>;

  constructor(dependencies: SlowCallsDependencies) {
    this.#slow = new SlowCalls(dependencies, 'a conversion between versions');
  }

  /** Measures the conversions of all types that are registered now or later. */
  follow(types: RegisteredTypes): void {
    for (const { type } of types.all()) this.#measure(type);
    types.subscribe(({ type }, change) => {
      if (change === 'registered') this.#measure(type);
    });
  }

  counts(): readonly ConversionCount[] {
    return this.#slow.counts();
  }

  #measure({ plugin, key: type, versions }: ResourceType): void {
    versions?.calls.measure((conversion, call) => this.#slow.run(call, () => ({ plugin, type, conversion })));
  }
}
