import type { Refused } from '../command/refuse.ts';
import type { EventMetadata } from '../command/event.ts';
import type { Kept, Strategy, Withheld } from '../command/strategy.ts';
import type { Subject } from '../command/subject.ts';
import type { StreamName } from '../log/log.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/** The rules for writes of the platform's own types. The rules complete objects and check the rights of writers. */
export type WriteRules = {
  strategyOf(type: TypeKey): Strategy | undefined;
  /**
   * Checks a decided change against the writer's rights, in the turn of the decision. The caller must call `release`
   * when the write has ended with any result. Until then, other checks treat the rights that the write removes as
   * removed.
   */
  check(change: DecidedChange): RuleCheck;
  /**
   * Whether `check` compares the writer's rights with the rights that other objects grant. Then the latest events of
   * those objects must be folded before the write is decided.
   */
  needsLastGrants(type: TypeKey, subject: Subject): boolean;
  /** Whether a refusal may contain the name of this object, because the writer may read the object. */
  mayName(subject: Subject, type: ResourceType, name: string): boolean;
};

export type DecidedChange = {
  readonly type: ResourceType;
  readonly subject: Subject;
  /** Undefined for a create. */
  readonly before: ResourceObject | undefined;
  /** Undefined when the change marks the object for deletion. */
  readonly after: ResourceObject | undefined;
  /** Whether the write sets a new password. */
  readonly isNewPassword: boolean;
};

/**
 * The result of `check`. `guard`: the change removes one of several things, and at least one of them must remain. The
 * check is then valid only while the write holds this guard.
 */
export type RuleCheck = (Refused | { readonly ok: true; readonly release?: (() => void) | undefined }) & {
  readonly guard?: StreamName | undefined;
};

/**
 * Stores secrets that must not be part of an object. A secret that is stored without a later object event is harmless,
 * because no event contains its revision (consistency protocol, 1).
 */
export type SecretKeeper = {
  keep(withheld: Withheld, of: SecretOwner): Promise<KeptOutcome>;
};

export type SecretOwner = {
  readonly uid: string;
  readonly metadata: EventMetadata;
  /** Aborts when the writer no longer waits. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * `busySeconds`: the time after which to retry, because too many passwords are being hashed. If absent, the log is
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

/** Returns the rules with the strategy of another platform type. */
export function withStrategy(rules: WriteRules, type: TypeKey, strategy: Strategy): WriteRules {
  return {
    strategyOf: (asked) => (asked === type ? strategy : rules.strategyOf(asked)),
    check: (change) => rules.check(change),
    needsLastGrants: (...asked) => rules.needsLastGrants(...asked),
    mayName: (...asked) => rules.mayName(...asked),
  };
}
