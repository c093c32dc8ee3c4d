import type { ResourceObject } from '../resource/object/object.ts';
import type { HookName, ResourceType } from '../resource/type/resource-type.ts';
import type { WriteContext } from './command.ts';
import type { Completed, Kept, Strategy } from './strategy.ts';
import type { Subject } from './subject.ts';

/**
 * The inputs of a decision in addition to state and command. `decide` reads no clock, draws no random values and does
 * no I/O.
 */
export type Facts = {
  readonly type: ResourceType;
  /** The indexes that are or were unique. Events contain the values of these indexes. */
  readonly onceUnique?: ReadonlySet<string> | undefined;
  /** The time of the write (RFC 3339, UTC, milliseconds). */
  readonly now: string;
  /** The uid of a new object. */
  readonly uid: string;
  /** The random suffix for `generateName`. */
  readonly suffix: string;
  readonly domain: string;
  readonly origin: WriteContext['origin'];
  readonly fieldValidation: WriteContext['fieldValidation'];
  readonly subject: Subject;
  /** The strategy of the type; undefined for a type without a strategy. */
  readonly strategy?: Strategy | undefined;
  /** Observes the calls of hooks. */
  readonly hookWatch?: HookWatch | undefined;
  /** Finalizers that a marked object gets in addition to the finalizers of the strategy. */
  readonly heldBy?: readonly string[] | undefined;
  /** The stored secret of this write; undefined until the secret is stored. */
  readonly kept?: Kept | undefined;
};

/** Measures the calls of hooks, and records failures. */
export type HookWatch = {
  /** Runs `call`, and returns its result or throws its error. */
  run(type: ResourceType, hook: HookName, call: () => unknown): unknown;
  /** `thrown` is the value that the hook threw; absent if the hook returned a wrong result. */
  failed(type: ResourceType, hook: HookName, failure: { readonly problem: string; readonly thrown?: unknown }): void;
};

/** Returns the object to store. The strategy of the type may change the object or refuse the write. */
export function complete(
  after: ResourceObject,
  before: ResourceObject | undefined,
  { strategy, subject, domain, now, kept }: Facts,
): Completed {
  return strategy === undefined
    ? { ok: true, object: after }
    : strategy.complete({ before, after, subject, domain, now, kept });
}
