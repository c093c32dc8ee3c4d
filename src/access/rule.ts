/** One rule of a role (seed 2.8). A rule cannot deny requests. */
export type Rule = ResourceRule | NonResourceRule;

export type ResourceRule = {
  readonly kind: 'resource';
  readonly apiGroups: readonly string[];
  // Entries of the forms R, R/S, *, */S and R/*, or, with a plugin, P/R and P/R/S (decision 6.5).
  readonly resources: readonly string[];
  /** Names, and patterns with one `*`; undefined for all names. */
  readonly resourceNames: readonly string[] | undefined;
  readonly verbs: readonly string[];
};

export type NonResourceRule = {
  readonly kind: 'non-resource';
  // Exact paths, <path>/* for all paths under a path, or * for every path.
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
};
