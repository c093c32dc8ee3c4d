import type { Rule } from '../../access/rule.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/**
 * A type, a subresource or a route that a rule of a role can name. `name` is `<resource>` or
 * `<resource>/<subresource>`. In the name of a route, `*` stands for a parameter in the path.
 */
export type RuleTarget = {
  readonly plugin: string;
  readonly group: string;
  readonly name: string;
};

/**
 * A part of a rule that names no existing plugin, group, type or route. `pointer` is the JSON pointer within the rule.
 */
export type UnmatchedPart = {
  readonly pointer: string;
  readonly text: string;
};

/** The subresources that the platform can serve for a type. A type may have only some of these subresources. */
const generatedSubresources = ['history', 'restore', 'scale', 'status'];

export function targetsOfType({ group, plural }: Pick<ResourceType, 'group' | 'plural'>, plugin: string): RuleTarget[] {
  return [plural, ...generatedSubresources.map((subresource) => `${plural}/${subresource}`)].map((name) => ({
    plugin,
    group,
    name,
  }));
}

/**
 * Returns the target of a route under `/apis/<group>/<version>/`; undefined for any other path. The first segment after
 * the version is the resource. The third segment, which may be missing, is the subresource.
 */
export function targetOfPath(path: string, plugin: string): RuleTarget | undefined {
  const [, apis, group = '', , resource, , subresource] = path.split('/');
  if (apis !== 'apis' || resource === undefined) return undefined;
  // A parameter in the place of the resource or subresource matches any name.
  const parts = [resource, subresource].filter((part) => part !== undefined);
  return { plugin, group, name: parts.map((part) => (part.startsWith('{') ? '*' : part)).join('/') };
}

/** The targets that exist, by group. */
export class RuleTargets {
  readonly #byGroup = new Map<string, RuleTarget[]>();
  readonly #plugins = new Set<string>();

  constructor(targets: Iterable<RuleTarget>) {
    for (const target of targets) {
      const same = this.#byGroup.get(target.group);
      if (same === undefined) this.#byGroup.set(target.group, [target]);
      else same.push(target);
      this.#plugins.add(target.plugin);
    }
  }

  hasGroups(groups: readonly string[]): boolean {
    return groups.every((group) => group === '*' || this.#byGroup.has(group));
  }

  /** Returns the parts of the rule that name no existing plugin, group, type or route. */
  unmatched(rule: Rule): readonly UnmatchedPart[] {
    if (rule.kind !== 'resource') return [];
    const missing = rule.apiGroups.flatMap((group, index) =>
      this.hasGroups([group]) ? [] : [{ pointer: `/apiGroups/${String(index)}`, text: this.#groupText(group) }],
    );
    // If a group is missing, the resources are not checked, because the missing group may have them.
    if (missing.length > 0 || rule.apiGroups.length === 0) return missing;
    const targets = rule.apiGroups.includes('*')
      ? [...this.#byGroup.values()].flat()
      : rule.apiGroups.flatMap((group) => this.#byGroup.get(group) ?? []);
    return rule.resources.flatMap((entry, index) =>
      isKnown(entry, targets)
        ? []
        : [{ pointer: `/resources/${String(index)}`, text: this.#entryText(entry, rule.apiGroups, targets) }],
    );
  }

  #groupText(group: string): string {
    const known = [...this.#byGroup.keys()].filter((name) => name !== '').sort();
    return `no type or route has the group ${JSON.stringify(group)}${nearOnly(group, known)}`;
  }

  #entryText(entry: string, groups: readonly string[], targets: readonly RuleTarget[]): string {
    const [first = '', , ...more] = entry.split('/');
    if (more.length > 0 && !this.#plugins.has(first))
      return `${entry}: no type or route belongs to a plugin ${first}${nearOnly(first, [...this.#plugins].sort())}`;
    const all = [...new Set(targets.map(({ name }) => name))].sort();
    const within = groups.map((group) => (group === '' ? 'the core group' : group)).join(', ');
    return `${entry} of ${within} names no type and no route; known names: ${shown(all)}`;
  }
}

/** Returns a hint with a similar known word, or '' if no known word is similar. */
function nearOnly(word: string, known: readonly string[]): string {
  const hint = otherWords(word, known);
  return hint.startsWith('; did') ? hint : '';
}

const namesShownMax = 32;

function shown(names: readonly string[]): string {
  const more = names.length - namesShownMax;
  return names.slice(0, namesShownMax).join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}

/**
 * Returns whether an entry names a target. The forms of an entry are `R`, `R/S`, `P/R` and `P/R/S`, for a plugin P, a
 * resource R and a subresource S. In place of R or S, `*` matches any name.
 */
function isKnown(entry: string, targets: readonly RuleTarget[]): boolean {
  if (entry === '*') return true;
  const slash = entry.indexOf('/');
  const [plugin, within] = [entry.slice(0, slash), entry.slice(slash + 1)];
  return targets.some(
    (target) => isNamed(entry, target.name) || (slash > 0 && target.plugin === plugin && isNamed(within, target.name)),
  );
}

function isNamed(entry: string, name: string): boolean {
  const [resource = '', subresource, ...more] = entry.split('/');
  const [knownResource, knownSubresource] = name.split('/');
  return (
    more.length === 0 &&
    (resource === '*' || knownResource === '*' || resource === knownResource) &&
    (subresource === '*' || subresource === knownSubresource)
  );
}
