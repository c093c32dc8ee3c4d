import type { CompiledRule } from './compile-rule.ts';

/** The rules for one value, and for the values in it. */
export type RuleNode = {
  readonly rules: readonly CompiledRule[];
  readonly parts: readonly RulePart[];
};

/** The rules that one of a value's schemas declares for the values within this value. */
export type RulePart = {
  readonly members: readonly (readonly [string, RuleNode])[];
  /** The names of all declared members. `additional` does not apply to these members. */
  readonly declared: ReadonlySet<string>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /**
   * The members by which an item of a list is matched with an item of the old list; undefined if items are not matched.
   */
  readonly keys: readonly string[] | undefined;
  /**
   * Whether the map is atomic (`x-kubernetes-map-type`), so that its members are not matched with the members of the
   * old map.
   */
  readonly isAtomic: boolean;
};
