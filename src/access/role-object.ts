import { isObject } from '../base/guards.ts';
import { roleListEntriesMax } from '../limits/access.ts';
import type { Role } from './role.ts';
import type { Rule } from './rule.ts';

type Malformed = {
  readonly key: string;
  readonly detail: string;
};

/** The members of a Role that decisions use. */
export type RoleSource = {
  readonly metadata: { readonly name: string; readonly labels?: unknown; readonly annotations?: unknown };
  readonly rules?: unknown;
};

/** Decodes a Role (seed 2.7). Malformed parts grant nothing. */
export function roleOf(object: RoleSource, domain: string): Role {
  const malformed: Malformed[] = [];
  const labels = membersOf(object.metadata.labels);
  const annotations = membersOf(object.metadata.annotations);
  const prefix = `rbac.authorization.${domain}/`;
  const list = (name: string): readonly string[] => {
    const read = textList(annotations[`${prefix}${name}`]);
    if (read === undefined)
      malformed.push({
        key: `${prefix}${name}`,
        detail: `must be a JSON array of at most ${String(roleListEntriesMax)} strings, written as a string`,
      });
    return read ?? [];
  };
  const text = (name: string): string | undefined => {
    const value = annotations[`${prefix}${name}`];
    if (value !== undefined && typeof value !== 'string')
      malformed.push({ key: `${prefix}${name}`, detail: 'must be a string' });
    return typeof value === 'string' ? value : undefined;
  };
  return {
    name: object.metadata.name,
    rules: rulesIn(object.rules),
    dependencies: list('dependencies'),
    aggregatesTo: aggregatesTo(labels, `${prefix}aggregate-to-`),
    uiPermissions: list('ui-permissions'),
    module: text('module'),
    displayName: text('display-name'),
    isTemplate: labels[`${domain}/role-template`] === 'true',
    isHidden: labels[`${domain}/hidden`] === 'true',
    malformed,
  };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function aggregatesTo(labels: Readonly<Record<string, unknown>>, prefix: string): readonly string[] {
  return Object.entries(labels)
    .filter(([key, value]) => value === 'true' && key.startsWith(prefix) && key.length > prefix.length)
    .map(([key]) => key.slice(prefix.length));
}

/**
 * Returns the list in an annotation; empty for an absent annotation, and undefined for a malformed or too long list.
 */
function textList(annotation: unknown): readonly string[] | undefined {
  if (annotation === undefined) return [];
  if (typeof annotation !== 'string') return undefined;
  try {
    const list = texts(JSON.parse(annotation));
    return list !== undefined && list.length > roleListEntriesMax ? undefined : list;
  } catch {
    return undefined;
  }
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined;
}

function rulesIn(value: unknown): readonly Rule[] {
  return Array.isArray(value) ? value.map(ruleOf).filter((rule) => rule !== undefined) : [];
}

/**
 * Decodes one entry of `rules`; undefined for a malformed entry. A malformed list makes the whole entry malformed.
 * Without the list, for example without `resourceNames`, the rule could allow more than intended.
 */
export function ruleOf(value: unknown): Rule | undefined {
  if (!isObject(value)) return undefined;
  const lists = {
    verbs: listed(value, 'verbs'),
    apiGroups: listed(value, 'apiGroups'),
    resources: listed(value, 'resources'),
    resourceNames: listed(value, 'resourceNames'),
    nonResourceURLs: listed(value, 'nonResourceURLs'),
  };
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = lists;
  if (
    verbs === undefined ||
    apiGroups === undefined ||
    resources === undefined ||
    resourceNames === undefined ||
    nonResourceURLs === undefined
  )
    return undefined;
  if (nonResourceURLs.length > 0 && resources.length === 0) return { kind: 'non-resource', nonResourceURLs, verbs };
  return {
    kind: 'resource',
    apiGroups,
    resources,
    resourceNames: resourceNames.length === 0 ? undefined : resourceNames,
    verbs,
  };
}

function listed(rule: Readonly<Record<string, unknown>>, member: string): readonly string[] | undefined {
  const value = rule[member];
  return value === undefined || value === null ? [] : texts(value);
}
