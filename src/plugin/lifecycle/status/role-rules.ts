import { ruleOf } from '../../../access/role-object.ts';
import { isList } from '../../../base/guards.ts';
import { RuleTargets, targetOfPath, targetsOfType, type RuleTarget } from '../../objects/rule-targets.ts';
import type { ShippedObject } from '../../objects/shipped-objects.ts';
import type { RouteOwners } from '../../registry/conflicts.ts';
import type { TypeRegistry } from '../../registry/type-registry.ts';
import type { HostedPlugin } from '../hosted-plugin.ts';

export type RoleRulesDependencies = {
  readonly registry: Pick<TypeRegistry, 'versions'>;
  readonly routeOwners: RouteOwners;
  readonly platformPaths?: (() => readonly string[]) | undefined;
};

/**
 * Finds rules that name no existing plugin, group, type or route, in the roles that plugins ship. A rule without a
 * target is only reported, because a plugin that starts later may declare the target.
 */
export class RoleRules {
  readonly #dependencies: RoleRulesDependencies;
  /** The last result of `unmatched` for each plugin, joined as one text. */
  readonly #last = new WeakMap<HostedPlugin, string>();

  constructor(dependencies: RoleRulesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns a text for each part of a rule in the plugin's roles that names no existing plugin, group, type or route.
   */
  unmatched(plugin: HostedPlugin): readonly string[] {
    const found = unmatchedOf(plugin, this.#targets());
    this.#last.set(plugin, found.join());
    return found;
  }

  /** Returns the started plugins for which the result of `unmatched` has changed since the last search. */
  changed(plugins: Iterable<HostedPlugin>): readonly HostedPlugin[] {
    const targets = this.#targets();
    return [...plugins].filter((plugin) => {
      if (plugin.phase !== 'started') return false;
      const [before, now] = [this.#last.get(plugin), unmatchedOf(plugin, targets).join()];
      this.#last.set(plugin, now);
      return before !== undefined && before !== now;
    });
  }

  #targets(): RuleTargets {
    return new RuleTargets(this.#eachTarget());
  }

  *#eachTarget(): Generator<RuleTarget> {
    const { registry, routeOwners, platformPaths } = this.#dependencies;
    for (const { type } of registry.versions()) yield* targetsOfType(type, type.plugin);
    // A shape ends with the path, which contains {} in place of each parameter.
    for (const [shape, plugin] of routeOwners) yield* present(targetOfPath(shape.slice(shape.indexOf('/')), plugin));
    for (const path of platformPaths?.() ?? []) yield* present(targetOfPath(path, 'platform'));
  }
}

function present(target: RuleTarget | undefined): readonly RuleTarget[] {
  return target === undefined ? [] : [target];
}

function unmatchedOf({ incarnation }: HostedPlugin, targets: RuleTargets): readonly string[] {
  return (incarnation?.is.loaded.objects ?? []).filter(isRole).flatMap(({ name, object }) => {
    const rules = isList(object['rules']) ? object['rules'] : [];
    return rules.flatMap((value, index) => {
      const rule = ruleOf(value);
      return rule === undefined
        ? []
        : targets
            .unmatched(rule)
            .map(({ pointer, text }) => `${name} rules.${String(index)}${pointer.replaceAll('/', '.')}: ${text}`);
    });
  });
}

function isRole({ apiVersion, kind }: ShippedObject): boolean {
  return kind === 'Role' && apiVersion === 'v1alpha1';
}
