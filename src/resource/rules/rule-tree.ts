import type { CompiledRule } from './compile-rule.ts';

/** The rules for one value, and for the values within the value. */
export type RuleNode = {
  readonly rules: readonly CompiledRule[];
  readonly parts: readonly RulePart[];
};

/** The rules that one of a value's schemas declares for the values within the value. */
export type RulePart = {
  readonly members: readonly (readonly [string, RuleNode])[];
  /** The names of all declared members, to which `additional` does not apply. */
  readonly declared: ReadonlySet<string>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /**
   * The members that identify an item, to match the item with an item of the old list; undefined if items are not
   * matched.
   */
  readonly keys: readonly string[] | undefined;
  /**
   * Whether the map is atomic (`x-kubernetes-map-type`), so that its members are not matched with the old map's
   * members.
   */
  readonly isAtomic: boolean;
};
