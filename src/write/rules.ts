import type { Refused } from '../command/refuse.ts';
import type { EventMetadata } from '../command/event.ts';
import type { Kept, Strategy, Withheld } from '../command/strategy.ts';
import type { Subject } from '../command/subject.ts';
import type { StreamName } from '../log/log.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/**
 * The rules for writes beyond the declarations of types: the strategies of platform types, and checks of the writers'
 * rights.
 */
export type WriteRules = {
  strategyOf(type: TypeKey): Strategy | undefined;
  /**
   * Checks a decided change against the writer's rights, in the turn of the decision. The caller must call `release`
   * when the write has ended. Until then, other checks treat the rights that the write removes as removed.
   */
  check(change: DecidedChange): RuleCheck;
  /**
   * Returns whether `check` compares the writer's rights with the grants of other objects. The latest events of those
   * objects must then be folded before the decision.
   */
  needsLastGrants(type: TypeKey, subject: Subject): boolean;
  /** Returns whether a refusal may contain the name of the object, because the writer may read the object. */
  mayName(subject: Subject, type: ResourceType, name: string): boolean;
};

export type DecidedChange = {
  readonly type: ResourceType;
  readonly subject: Subject;
  /** The stored object; undefined for a new object. */
  readonly before: ResourceObject | undefined;
  /** The object after the write; undefined for a write that marks the object for deletion. */
  readonly after: ResourceObject | undefined;
  /** Whether the write sets a new password. */
  readonly isNewPassword: boolean;
};

/**
 * The result of `check`. `guard` is the stream of the guard that the write must hold. A change needs a guard if it
 * removes one of several objects of which at least one must remain, such as the super administrators.
 */
export type RuleCheck = (Refused | { readonly ok: true; readonly release?: (() => void) | undefined }) & {
  readonly guard?: StreamName | undefined;
};

/**
 * Stores secrets that must not be part of an object. A secret without a later object event is never valid
 * (docs/spec/consistency.md, 1).
 */
export type SecretKeeper = {
  keep(withheld: Withheld, of: SecretOwner): Promise<KeptOutcome>;
};

export type SecretOwner = {
  readonly uid: string;
  readonly metadata: EventMetadata;
  /** Aborts when the client no longer waits for the write. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * `busySeconds`: too many passwords are being hashed, and the caller may retry after this time. If absent, the log is
 * unavailable.
 */
export type KeptOutcome =
  { readonly ok: true; readonly kept: Kept } | { readonly ok: false; readonly busySeconds?: number };

/** Rules that accept every decision. */
export const noRules: WriteRules = {
  strategyOf: () => undefined,
  check: () => ({ ok: true }),
  needsLastGrants: () => false,
  mayName: () => true,
};

/** Returns the rules with a strategy for an additional platform type. */
export function withStrategy(rules: WriteRules, type: TypeKey, strategy: Strategy): WriteRules {
  return {
    strategyOf: (asked) => (asked === type ? strategy : rules.strategyOf(asked)),
    check: (change) => rules.check(change),
    needsLastGrants: (...asked) => rules.needsLastGrants(...asked),
    mayName: (...asked) => rules.mayName(...asked),
  };
}
