import { coverageAtomsMax } from '../limits.ts';
import { isNameWithin } from './name-pattern.ts';
import { isPathWithin } from './path-entry.ts';
import { readingsOf } from './resource-entry.ts';
import type { NonResourceRule, ResourceRule, Rule } from './rule.ts';

/**
 * The first of `rules` that allows something `held` does not (decision 6.7). A rule is taken apart into atoms, verb by group
 * by resource by name, each of which one held rule must allow as a whole. So what is found within is within; a rule that is
 * within only because several held ones join to one atom is called lacking, which errs on the safe side.
 */
export function lacking(rules: readonly Rule[], held: readonly Rule[]): Rule | undefined {
  const known = new Set(held);
  const resourceRules = held.filter((rule) => rule.kind === 'resource');
  const pathRules = held.filter((rule) => rule.kind === 'non-resource');
  return rules.find((rule) => !known.has(rule) && !(rule.kind === 'resource' ? isHeld(rule, resourceRules) : isPathHeld(rule, pathRules)));
}

type Atoms = {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly readings: readonly (readonly string[])[];
  /** Undefined: any name, and none. */
  readonly names: readonly (string | undefined)[];
};

function isHeld(rule: ResourceRule, held: readonly ResourceRule[]): boolean {
  const atoms: Atoms = { verbs: rule.verbs, groups: rule.apiGroups, readings: rule.resources.flatMap(readingsOf), names: namesOf(rule) ?? [undefined] };
  if (held.some((owner) => isAllHeldBy(owner, atoms))) return true;
  // Without a bound a role with long lists would stop the process; one held rule that allows it all is found above.
  if (atoms.verbs.length * atoms.groups.length * atoms.readings.length * atoms.names.length > coverageAtomsMax) return false;
  return atoms.verbs.every((verb) => {
    const ofVerb = held.filter((owner) => isAmong(owner.verbs, verb));
    return atoms.groups.every((group) => {
      const ofGroup = ofVerb.filter((owner) => isAmong(owner.apiGroups, group));
      return atoms.readings.every((reading) => areNamesHeld(atoms.names, ofGroup.filter((owner) => isReadingHeld(owner, reading))));
    });
  });
}

function isAllHeldBy(owner: ResourceRule, { verbs, groups, readings, names }: Atoms): boolean {
  return verbs.every((verb) => isAmong(owner.verbs, verb))
    && groups.every((group) => isAmong(owner.apiGroups, group))
    && readings.every((reading) => isReadingHeld(owner, reading))
    && areNamesHeld(names, [owner]);
}

/** `*` is within `*` alone, and any other entry within itself as well. */
function isAmong(entries: readonly string[], entry: string): boolean {
  return entries.includes('*') || entries.includes(entry);
}

function isReadingHeld(owner: ResourceRule, reading: readonly string[]): boolean {
  return reading.some((entry) => owner.resources.includes(entry));
}

function areNamesHeld(names: readonly (string | undefined)[], owners: readonly ResourceRule[]): boolean {
  if (owners.some((owner) => namesOf(owner) === undefined)) return true;
  return names.every((name) => name !== undefined && owners.some((owner) => owner.resourceNames?.some((wider) => isNameWithin(name, wider)) === true));
}

/** An empty list counts as not given. */
function namesOf({ resourceNames }: ResourceRule): readonly string[] | undefined {
  return resourceNames?.length === 0 ? undefined : resourceNames;
}

function isPathHeld(rule: NonResourceRule, held: readonly NonResourceRule[]): boolean {
  if (rule.verbs.length * rule.nonResourceURLs.length > coverageAtomsMax) return false;
  return rule.verbs.every((verb) => {
    const ofVerb = held.filter((owner) => isAmong(owner.verbs, verb));
    return rule.nonResourceURLs.every((entry) => ofVerb.some((owner) => owner.nonResourceURLs.some((wider) => isPathWithin(entry, wider))));
  });
}
