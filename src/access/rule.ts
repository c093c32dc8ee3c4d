/** One rule of a role (seed 2.8). Rules only allow; none denies. */
export type Rule = ResourceRule | NonResourceRule;

export type ResourceRule = {
  readonly kind: 'resource';
  readonly apiGroups: readonly string[];
  // Entries R, R/S, *, */S, R/*; with a plugin: P/R, P/R/S (decision 6.5).
  readonly resources: readonly string[];
  /** Names, each with at most one `*`; undefined: any name, or no name. */
  readonly resourceNames: readonly string[] | undefined;
  readonly verbs: readonly string[];
};

export type NonResourceRule = {
  readonly kind: 'non-resource';
  // Exact paths, or paths that end in /*; * alone is every path.
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
};
