import { coverageChecksMax } from '../limits/access.ts';
import { isNameWithin } from './name-pattern.ts';
import { isPathWithin } from './path-entry.ts';
import { readingsOf } from './resource-entry.ts';
import type { NonResourceRule, ResourceRule, Rule } from './rule.ts';

/**
 * The first of `rules` that allows something `held` does not (decision 6.7). A rule is taken apart into atoms, verb by group
 * by resource by name, each of which one held rule must allow as a whole. So what is found within is within; a rule that is
 * within only because several held ones join to one atom is called lacking, which errs on the safe side. So does one that
 * takes too long to compare: whoever writes rules could stop the process with them.
 */
export function lacking(rules: readonly Rule[], held: readonly Rule[]): Rule | undefined {
  const known = new Set(held);
  const compared = rules.filter((rule) => !known.has(rule));
  if (compared.length === 0) return undefined;
  const owners = new Owners(held);
  return compared.find((rule) => !(rule.kind === 'resource' ? owners.hold(rule) : owners.holdPaths(rule)));
}

/** A held rule, ready to be asked. */
type Owner = { readonly verbs: ReadonlySet<string>; readonly groups: ReadonlySet<string>; readonly names: Names | undefined };
/** Every entry is in `exact`, patterns included: each is within itself. */
type Names = { readonly exact: ReadonlySet<string>; readonly patterns: readonly string[] };
type PathOwner = { readonly verbs: ReadonlySet<string>; readonly urls: ReadonlySet<string> };

class Owners {
  /** By each entry of `resources`. */
  readonly #byResource = new Map<string, Owner[]>();
  readonly #paths: readonly PathOwner[];
  /** Comparisons that may still be made. */
  #left = coverageChecksMax;

  constructor(held: readonly Rule[]) {
    for (const rule of held) {
      if (rule.kind !== 'resource') continue;
      const owner: Owner = { verbs: new Set(rule.verbs), groups: new Set(rule.apiGroups), names: namesIn(rule) };
      for (const entry of new Set(rule.resources)) put(this.#byResource, entry, owner);
    }
    this.#paths = held.filter((rule) => rule.kind === 'non-resource').map((rule) => ({ verbs: new Set(rule.verbs), urls: new Set(rule.nonResourceURLs) }));
  }

  hold(rule: ResourceRule): boolean {
    const [verbs, groups, names] = [unique(rule.verbs), unique(rule.apiGroups), namesIn(rule)?.exact];
    return unique(rule.resources).flatMap(readingsOf).every((reading) => {
      const owners = unique(reading.flatMap((entry) => this.#byResource.get(entry) ?? []));
      return verbs.every((verb) => {
        const ofVerb = this.#those(owners, (owner) => isAmong(owner.verbs, verb));
        return groups.every((group) => this.#holdNames(names, this.#those(ofVerb, (owner) => isAmong(owner.groups, group))));
      });
    });
  }

  holdPaths(rule: NonResourceRule): boolean {
    const entries = unique(rule.nonResourceURLs);
    return unique(rule.verbs).every((verb) => {
      const ofVerb = this.#those(this.#paths, (owner) => isAmong(owner.verbs, verb));
      return entries.every((entry) => ofVerb.some(({ urls }) => {
        if (urls.has('*') || urls.has(entry)) return this.#mayGoOn(1);
        return this.#mayGoOn(urls.size) && [...urls].some((wider) => isPathWithin(entry, wider));
      }));
    });
  }

  #holdNames(names: ReadonlySet<string> | undefined, owners: readonly Owner[]): boolean {
    if (owners.some((owner) => owner.names === undefined)) return true;
    return names !== undefined && [...names].every((name) => owners.some((owner) => owner.names !== undefined && this.#holdsName(owner.names, name)));
  }

  #holdsName({ exact, patterns }: Names, name: string): boolean {
    if (exact.has(name)) return this.#mayGoOn(1);
    return this.#mayGoOn(patterns.length) && patterns.some((wider) => isNameWithin(name, wider));
  }

  /** None once there were too many comparisons: then nothing is held. */
  #those<T>(owners: readonly T[], isOne: (owner: T) => boolean): readonly T[] {
    return this.#mayGoOn(owners.length) ? owners.filter(isOne) : [];
  }

  #mayGoOn(comparisons: number): boolean {
    this.#left -= comparisons + 1;
    return this.#left > 0;
  }
}

/** `*` is within `*` alone, and any other entry within itself as well. */
function isAmong(entries: ReadonlySet<string>, entry: string): boolean {
  return entries.has('*') || entries.has(entry);
}

/** Undefined: any name, and none. An empty list counts as not given. */
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
