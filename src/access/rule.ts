/** One line of a role (seed 2.8): what it allows, and nothing ever denies. */
export type Rule = ResourceRule | NonResourceRule;

export type ResourceRule = {
  readonly kind: 'resource';
  readonly apiGroups: readonly string[];
  // R, R/S, *, */S, R/*, and by plugin P/R, P/R/S (decision 6.5).
  readonly resources: readonly string[];
  /** Names, each with at most one `*`; undefined: any name and none. */
  readonly resourceNames: readonly string[] | undefined;
  readonly verbs: readonly string[];
};

export type NonResourceRule = {
  readonly kind: 'non-resource';
  // Paths, exact or ending in /*; * alone is every path.
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
};
