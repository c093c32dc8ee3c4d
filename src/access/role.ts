import type { Rule } from './rule.ts';

/** A decoded Role (seed 2.7): its rules, its related roles, and members for user interfaces. */
export type Role = {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** The names of the roles that this role includes. */
  readonly dependencies: readonly string[];
  /**
   * The names of the roles to which this role is aggregated, from the labels
   * `rbac.authorization.<domain>/aggregate-to-<role>`.
   */
  readonly aggregatesTo: readonly string[];
  readonly uiPermissions: readonly string[];
  readonly module: string | undefined;
  readonly displayName: string | undefined;
  readonly isTemplate: boolean;
  readonly isHidden: boolean;
  /** The malformed annotations, each with its key and the problem. Malformed annotations are treated as absent. */
  readonly malformed: readonly { readonly key: string; readonly detail: string }[];
};
