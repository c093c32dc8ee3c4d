import type { Refused } from '../command/refuse.ts';
import type { EventMetadata } from '../command/event.ts';
import type { Kept, Strategy, Withheld } from '../command/strategy.ts';
import type { Subject } from '../command/subject.ts';
import type { StreamName } from '../log/log.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/** What the write door asks about the platform's own types: how their objects are completed, and who may write which. */
export type WriteRules = {
  strategyOf(type: TypeKey): Strategy | undefined;
  /**
   * Judges what was decided against what the writer holds, in the very turn it was decided in. `release` is called once the
   * write has settled, whatever came of it: until then what it may take away counts as taken.
   */
  judge(change: DecidedChange): Judged;
  /** Whether a refusal may name this object to the writer: they could read it themselves. */
  mayName(subject: Subject, type: ResourceType, name: string): boolean;
};

export type DecidedChange = {
  readonly type: ResourceType;
  readonly subject: Subject;
  /** Undefined for a create. */
  readonly before: ResourceObject | undefined;
  /** Undefined when it is marked for deletion. */
  readonly after: ResourceObject | undefined;
  /** A new password comes with it. */
  readonly isNewPassword: boolean;
};

/** `guard`: it takes something away that must not be lost altogether, so the judgement counts only for whoever holds this guard. */
export type Judged = (Refused | { readonly ok: true; readonly release?: (() => void) | undefined }) & { readonly guard?: StreamName | undefined };

/** Keeps what must not stand in an object (consistency protocol, 1: an orphan is harmless, as nothing names it). */
export type SecretKeeper = {
  keep(withheld: Withheld, of: SecretOwner): Promise<KeptOutcome>;
};

export type SecretOwner = {
  readonly uid: string;
  readonly metadata: EventMetadata;
  /** Aborts when the writer does not wait any more. */
  readonly signal?: AbortSignal | undefined;
};

/** `busySeconds`: too many passwords are being hashed, and when to try again; without it the log did not answer. */
export type KeptOutcome =
  | { readonly ok: true; readonly kept: Kept }
  | { readonly ok: false; readonly busySeconds?: number };

/** For types without rules of their own: everything a decision allows may be written. */
export const noRules: WriteRules = { strategyOf: () => undefined, judge: () => ({ ok: true }), mayName: () => true };

/** The same, and what one more type of the platform asks of a write. */
export function withStrategy(rules: WriteRules, type: TypeKey, strategy: Strategy): WriteRules {
  return { strategyOf: (asked) => (asked === type ? strategy : rules.strategyOf(asked)), judge: (change) => rules.judge(change), mayName: (...asked) => rules.mayName(...asked) };
}
