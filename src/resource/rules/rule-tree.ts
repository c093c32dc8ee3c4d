import type { CompiledRule } from './compile-rule.ts';

/** The rules for one value, and for the values in it. */
export type RuleNode = {
  readonly rules: readonly CompiledRule[];
  readonly parts: readonly RulePart[];
};

/** The rules below a value that come from one of the schemas of the value. */
export type RulePart = {
  readonly members: readonly (readonly [string, RuleNode])[];
  /** All declared members. `additional` does not apply to them. */
  readonly declared: ReadonlySet<string>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /** The members by which items of a list correlate with items of the old list; undefined if items do not correlate. */
  readonly keys: readonly string[] | undefined;
  /**
   * Whether the map is atomic (`x-kubernetes-map-type`), so its members do not correlate with the members of the old
   * value.
   */
  readonly isAtomic: boolean;
};
