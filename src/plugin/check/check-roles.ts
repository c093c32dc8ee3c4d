import { ruleOf, roleOf } from '../../access/role-object.ts';
import { isList, isObject } from '../../base/guards.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { escapeToken } from '../../base/reference-token.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import type { Endpoints } from '../api/endpoints.ts';
import { RuleTargets, targetOfPath, targetsOfType } from '../objects/rule-targets.ts';
import type { FiledObject } from './check-files.ts';
import type { PluginProblem } from './plugin-problem.ts';

export type RolesCheck = {
  readonly plugin: string;
  readonly domain: string;
  readonly types: readonly Pick<ResourceType, 'group' | 'plural'>[];
  readonly endpoints: Endpoints;
  /** The names of roles that exist in addition to the roles of the plugin. */
  readonly otherRoles: readonly string[];
  /**
   * Whether the plugin depends on other plugins. The plugin's roles may then include unknown roles of these plugins.
   */
  readonly hasDependencies: boolean;
};

/** Returns the problems of the roles that the plugin ships, except for violations of the schema of roles. */
export function checkRoles(objects: readonly FiledObject[], check: RolesCheck): readonly PluginProblem[] {
  const roles = objects.filter(({ object }) => object['kind'] === 'Role' && object['apiVersion'] === 'v1alpha1');
  const names = new Set([...check.otherRoles, ...roles.flatMap(({ object }) => nameOf(object) ?? [])]);
  const targets = targetsOf(check);
  return roles.flatMap((filed) => [...annotationProblems(filed, names, check), ...ruleProblems(filed, targets)]);
}

function annotationProblems(
  { file, object, lineOf }: FiledObject,
  names: ReadonlySet<string>,
  { domain, hasDependencies }: RolesCheck,
): readonly PluginProblem[] {
  const { malformed, dependencies } = roleOf(asResource(object), domain);
  const lineAt = (key: string): number | undefined => lineOf(`/metadata/annotations/${escapeToken(key)}`);
  const included = `rbac.authorization.${domain}/dependencies`;
  const missing = hasDependencies ? [] : dependencies.filter((name) => !names.has(name));
  return [
    ...malformed.map(({ key, detail }) => ({ file, line: lineAt(key), text: `the annotation ${key} ${detail}` })),
    ...missing.map((name) => ({
      file,
      line: lineAt(included),
      text: `the role ${name} does not exist${otherWords(name, [...names])}`,
    })),
  ];
}

/**
 * Returns the problems of the role's rules. A rule that names only groups of this plugin must match a type or route of
 * the plugin. Other rules are not checked, because another plugin or the platform may have the resource.
 */
function ruleProblems({ file, object, lineOf }: FiledObject, targets: RuleTargets): readonly PluginProblem[] {
  const rules = isList(object['rules']) ? object['rules'] : [];
  return rules.flatMap((value, index) => {
    const rule = ruleOf(value);
    if (rule?.kind !== 'resource' || rule.apiGroups.includes('*') || !targets.hasGroups(rule.apiGroups)) return [];
    return targets
      .unmatched(rule)
      .map(({ pointer, text }) => ({ file, line: lineOf(`/rules/${String(index)}${pointer}`), text }));
  });
}

function targetsOf({ plugin, types, endpoints }: RolesCheck): RuleTargets {
  return new RuleTargets([
    ...types.flatMap((type) => targetsOfType(type, plugin)),
    ...[...endpoints.routes, ...endpoints.sockets].flatMap(({ path }) => targetOfPath(path, plugin) ?? []),
  ]);
}

function nameOf(object: FiledObject['object']): string | undefined {
  const { metadata } = object;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Converts the object for the decoder of roles. Metadata that the decoder does not read has placeholder values. */
function asResource(object: FiledObject['object']): ResourceObject {
  const { metadata } = object;
  const { labels, annotations } = isObject(metadata) ? metadata : {};
  return {
    apiVersion: 'v1alpha1',
    kind: 'Role',
    ...(object['rules'] === undefined ? {} : { rules: object['rules'] }),
    metadata: {
      name: nameOf(object) ?? '',
      uid: '',
      version: 0,
      generation: 1,
      creationTimestamp: '',
      ...(labels === undefined ? {} : { labels: textsIn(labels) }),
      ...(annotations === undefined ? {} : { annotations: textsIn(annotations) }),
    },
  };
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text] as const] : [])));
}
