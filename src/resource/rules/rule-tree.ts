import type { CompiledRule } from './compile-rule.ts';

/** The rules for one value, and for the values in it. */
export type RuleNode = {
  readonly rules: readonly CompiledRule[];
  readonly parts: readonly RulePart[];
};

/** The rules below a value by one of the schemas that apply to it. */
export type RulePart = {
  readonly members: readonly (readonly [string, RuleNode])[];
  /** All declared members: they do not follow `additional`. */
  readonly declared: ReadonlySet<string>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /** The members by which items of a list correlate with items of the old list; undefined: items do not. */
  readonly keys: readonly string[] | undefined;
  /** Whether members correlate with the members of the old value. */
  readonly isAtomic: boolean;
};
