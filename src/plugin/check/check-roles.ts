import { ruleOf, roleOf } from '../../access/role-object.ts';
import { isList, isObject } from '../../base/guards.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { escapeToken } from '../../base/reference-token.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import type { Endpoints } from '../api/endpoints.ts';
import type { FiledObject } from './check-files.ts';
import type { PluginProblem } from './plugin-problem.ts';

export type RolesCheck = {
  readonly plugin: string;
  readonly domain: string;
  readonly types: readonly Pick<ResourceType, 'group' | 'plural'>[];
  readonly endpoints: Endpoints;
  /** The names of roles that exist in addition to the roles of the plugin. */
  readonly otherRoles: readonly string[];
  /** Whether roles of other plugins may be included. */
  readonly hasDependencies: boolean;
};

/** Returns the problems of the roles that the plugin ships, in addition to violations of the schema of roles. */
export function checkRoles(objects: readonly FiledObject[], check: RolesCheck): readonly PluginProblem[] {
  const roles = objects.filter(({ object }) => object['kind'] === 'Role' && object['apiVersion'] === 'v1alpha1');
  const names = new Set([...check.otherRoles, ...roles.flatMap(({ object }) => nameOf(object) ?? [])]);
  const resources = resourcesOf(check);
  return roles.flatMap((filed) => [
    ...annotationProblems(filed, names, check),
    ...ruleProblems(filed, resources, check.plugin),
  ]);
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
 * Returns the problems of the role's rules. A rule for a group of this plugin must name one of its types or routes,
 * because no other plugin can add a type or route to the group.
 */
function ruleProblems(
  { file, object, lineOf }: FiledObject,
  resources: ReadonlyMap<string, ReadonlySet<string>>,
  plugin: string,
): readonly PluginProblem[] {
  const rules = isList(object['rules']) ? object['rules'] : [];
  return rules.flatMap((value, index) => {
    const rule = ruleOf(value);
    if (rule?.kind !== 'resource') return [];
    const known = rule.apiGroups.map((group) => resources.get(group));
    // A group of the platform or of another plugin may have the resource.
    if (known.length === 0 || known.includes(undefined)) return [];
    const all = [...new Set(known.flatMap((names) => [...(names ?? [])]))].sort();
    return rule.resources.flatMap((entry, position) =>
      isKnown(entry, all, plugin)
        ? []
        : [
            {
              file,
              line: lineOf(`/rules/${String(index)}/resources/${String(position)}`),
              text: `${entry} of ${rule.apiGroups.join(', ')} names no type and no route; they have ${all.join(', ')}`,
            },
          ],
    );
  });
}

function isKnown(entry: string, all: readonly string[], plugin: string): boolean {
  if (entry === '*') return true;
  const within = entry.startsWith(`${plugin}/`) ? entry.slice(plugin.length + 1) : entry;
  return [entry, within].some((text) => {
    const [resource = '', subresource] = text.split('/');
    return all.some((name) => {
      const [knownResource, knownSubresource] = name.split('/');
      return (
        (resource === '*' || knownResource === '*' || resource === knownResource) &&
        (subresource === '*' || subresource === knownSubresource)
      );
    });
  });
}

/** The subresources that the platform serves for types; which of them exist depends on the type. */
const generatedSubresources = ['history', 'restore', 'scale', 'status'];

/** Returns the entries `R` and `R/S` of `resources` that match the plugin's types and routes, by group. */
function resourcesOf({ types, endpoints }: RolesCheck): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const add = (group: string, name: string): void => {
    const names = found.get(group) ?? new Set();
    names.add(name);
    found.set(group, names);
  };
  for (const { group, plural } of types) {
    add(group, plural);
    for (const subresource of generatedSubresources) add(group, `${plural}/${subresource}`);
  }
  for (const { path } of [...endpoints.routes, ...endpoints.sockets]) {
    const [, , group = '', , resource = '', , subresource] = path.split('/');
    // A parameter in the place of the resource matches any.
    add(
      group,
      [resource, subresource]
        .filter((part) => part !== undefined)
        .map(anyName)
        .join('/'),
    );
  }
  return found;
}

function anyName(segment: string): string {
  return segment.startsWith('{') ? '*' : segment;
}

function nameOf(object: FiledObject['object']): string | undefined {
  const { metadata } = object;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Converts the object for the decoder of roles, which reads only the name, the labels and the annotations. */
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
