import { coverageChecksMax } from '../limits/access.ts';
import { isNameWithin } from './name-pattern.ts';
import { isPathWithin } from './path-entry.ts';
import { readingsOf } from './resource-entry.ts';
import type { NonResourceRule, ResourceRule, Rule } from './rule.ts';

/**
 * Returns the first of `rules` that `held` does not cover (decision 6.7); undefined if `held` covers all rules.
 *
 * An atom is one combination of a rule's entries: a verb and a path, or a verb, a group, a resource and a name. A rule
 * is covered if, for each of its atoms, one held rule covers the atom. An atom that only several held rules together
 * cover counts as not covered. After `coverageChecksMax` comparisons, all further rules count as not covered. The check
 * may thus refuse too much, but never too little.
 */
export function lacking(rules: readonly Rule[], held: readonly Rule[]): Rule | undefined {
  const known = new Set(held);
  const compared = rules.filter((rule) => !known.has(rule));
  if (compared.length === 0) return undefined;
  const owners = new Owners(held);
  return compared.find((rule) => !(rule.kind === 'resource' ? owners.hold(rule) : owners.holdPaths(rule)));
}

/** A held rule, prepared for comparisons. */
type Owner = {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly names: Names | undefined;
};
/** The entries of `resourceNames` of a rule. `exact` also contains the patterns, because a pattern covers itself. */
type Names = {
  readonly exact: ReadonlySet<string>;
  readonly patterns: readonly string[];
};
type PathOwner = {
  readonly verbs: ReadonlySet<string>;
  readonly urls: ReadonlySet<string>;
};

class Owners {
  /** The held resource rules, by each entry of their `resources`. */
  readonly #byResource = new Map<string, Owner[]>();
  readonly #paths: readonly PathOwner[];
  /** The number of comparisons that are still allowed. */
  #left = coverageChecksMax;

  constructor(held: readonly Rule[]) {
    for (const rule of held) {
      if (rule.kind !== 'resource') continue;
      const owner: Owner = {
        verbs: new Set(rule.verbs),
        groups: new Set(rule.apiGroups),
        names: namesIn(rule),
      };
      for (const entry of new Set(rule.resources)) put(this.#byResource, entry, owner);
    }
    this.#paths = held
      .filter((rule) => rule.kind === 'non-resource')
      .map((rule) => ({ verbs: new Set(rule.verbs), urls: new Set(rule.nonResourceURLs) }));
  }

  hold(rule: ResourceRule): boolean {
    const [verbs, groups, names] = [unique(rule.verbs), unique(rule.apiGroups), namesIn(rule)?.exact];
    return unique(rule.resources)
      .flatMap(readingsOf)
      .every((reading) => {
        const owners = unique(reading.flatMap((entry) => this.#byResource.get(entry) ?? []));
        return verbs.every((verb) => {
          const ofVerb = this.#those(owners, (owner) => isAmong(owner.verbs, verb));
          return groups.every((group) =>
            this.#holdNames(
              names,
              this.#those(ofVerb, (owner) => isAmong(owner.groups, group)),
            ),
          );
        });
      });
  }

  holdPaths(rule: NonResourceRule): boolean {
    const entries = unique(rule.nonResourceURLs);
    return unique(rule.verbs).every((verb) => {
      const ofVerb = this.#those(this.#paths, (owner) => isAmong(owner.verbs, verb));
      return entries.every((entry) =>
        ofVerb.some(({ urls }) => {
          if (urls.has('*') || urls.has(entry)) return this.#countComparisons(1);
          return this.#countComparisons(urls.size) && [...urls].some((wider) => isPathWithin(entry, wider));
        }),
      );
    });
  }

  #holdNames(names: ReadonlySet<string> | undefined, owners: readonly Owner[]): boolean {
    if (owners.some((owner) => owner.names === undefined)) return true;
    return (
      names !== undefined &&
      [...names].every((name) =>
        owners.some((owner) => owner.names !== undefined && this.#holdsName(owner.names, name)),
      )
    );
  }

  #holdsName({ exact, patterns }: Names, name: string): boolean {
    if (exact.has(name)) return this.#countComparisons(1);
    return this.#countComparisons(patterns.length) && patterns.some((wider) => isNameWithin(name, wider));
  }

  /**
   * Returns the held rules for which `isOne` returns true. At the limit of comparisons, returns none, so that the
   * compared rule counts as not covered.
   */
  #those<T>(owners: readonly T[], isOne: (owner: T) => boolean): readonly T[] {
    return this.#countComparisons(owners.length) ? owners.filter(isOne) : [];
  }

  #countComparisons(comparisons: number): boolean {
    this.#left -= comparisons + 1;
    return this.#left > 0;
  }
}

/** Returns whether one of the entries covers `entry`: an equal entry, or `*`. */
function isAmong(entries: ReadonlySet<string>, entry: string): boolean {
  return entries.has('*') || entries.has(entry);
}

/** Returns the names of a rule; undefined if the rule does not restrict names. An empty list means no restriction. */
function namesIn({ resourceNames }: ResourceRule): Names | undefined {
  if (resourceNames === undefined || resourceNames.length === 0) return undefined;
  const exact = new Set(resourceNames);
  return { exact, patterns: [...exact].filter((entry) => entry.includes('*')) };
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

function put<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
