import type { Rule } from './rule.ts';

/** A Role, decoded for decisions: its rules, related roles and display members (seed 2.7). */
export type Role = {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** The names of the roles that this role includes. */
  readonly dependencies: readonly string[];
  /** The roles to which this role is aggregated, by its labels `rbac.authorization.<domain>/aggregate-to-<role>`. */
  readonly aggregatesTo: readonly string[];
  readonly uiPermissions: readonly string[];
  readonly module: string | undefined;
  readonly displayName: string | undefined;
  readonly isTemplate: boolean;
  readonly isHidden: boolean;
  /** The malformed annotations, which are treated as empty, each with its key and the problem. */
  readonly malformed: readonly { readonly key: string; readonly detail: string }[];
};
