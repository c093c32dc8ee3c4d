import type { Rule } from './rule.ts';

/** A Role as decisions see it: its rules, what it is tied to, and how it is shown (seed 2.7). */
export type Role = {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** Roles that come with it. */
  readonly dependencies: readonly string[];
  /** Roles that it is added to: its labels `rbac.authorization.<domain>/aggregate-to-<role>`. */
  readonly aggregatesTo: readonly string[];
  readonly uiPermissions: readonly string[];
  readonly module: string | undefined;
  readonly displayName: string | undefined;
  readonly isTemplate: boolean;
  readonly isHidden: boolean;
  /** Annotations that could not be read and count as empty: key and what is wrong with it. */
  readonly malformed: readonly { readonly key: string; readonly detail: string }[];
};
