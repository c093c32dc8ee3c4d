import type { RemoteClient, TypeName } from 'ledgerplane/client';

import { roleText, type RoleMetadata } from './role-names.ts';

/** A rule of a role, in the form of a response. */
export type Rule = {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
};

/** The rights of the page's user. */
export type Rights = {
  /** The names of the roles that are bound to the user. */
  readonly roles: readonly string[];
  /** Returns the display name of a role in a language. */
  readonly titleOfRole: (name: string, language: string) => string;
  readonly uiPermissions: readonly string[];
  readonly rules: readonly Rule[];
  /** The entity tag of the response. */
  readonly tag?: string | undefined;
};

export const noRights: Rights = { roles: [], titleOfRole: (name) => name, uiPermissions: [], rules: [] };

type PermissionsAnswer = {
  readonly roles: readonly { readonly metadata: RoleMetadata }[];
  readonly permissions: readonly { readonly rules?: readonly Rule[] }[];
  readonly uiPermissions: readonly string[];
};

export function rightsKey(username: string): readonly string[] {
  return ['rights', username];
}

type ReadRights = {
  readonly signal: AbortSignal;
  /** The entity tag of the known rights. With a tag, the server waits up to `waitSeconds` for a change. */
  readonly known?: string;
  readonly waitSeconds?: number;
};

/** Reads the rights of the page's user; undefined if the rights are unchanged. */
export async function readRights(
  client: RemoteClient,
  domain: string,
  { signal, known, waitSeconds }: ReadRights,
): Promise<Rights | undefined> {
  const path = `/apis/api.console.${domain}/v1alpha1/users/-/permissions`;
  const changed = await client.requestChanged<PermissionsAnswer>(path, { signal, known, query: { wait: waitSeconds } });
  if (changed === undefined) return undefined;
  const { value, tag } = changed;
  const roles = new Map(value.roles.map(({ metadata }) => [metadata.name, metadata]));
  const titleOfRole = (name: string, language: string): string =>
    roleText(roles.get(name) ?? { name }, 'display-name', { domain, language }) || name;
  return {
    roles: [...roles.keys()],
    titleOfRole,
    uiPermissions: value.uiPermissions,
    rules: value.permissions.flatMap(({ rules }) => rules ?? []),
    tag,
  };
}

/** A request for objects of a type that the user may want to send. */
export type Intent = {
  readonly verb: string;
  /** `verbs`: the verbs that the server supports for the type; undefined if unknown. */
  readonly type: TypeName & { readonly verbs?: readonly string[] };
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
};

/**
 * Returns whether the server supports a request and the rules allow it. Use the result only to show or hide an element,
 * because the server decides each request itself. A rule for `<plugin>/<plural>` also applies to `<plural>`.
 */
export function mayRequest(rules: readonly Rule[], { verb, type, name, subresource }: Intent): boolean {
  if (subresource === undefined && type.verbs?.includes(verb) === false) return false;
  return rules.some(
    ({ apiGroups = [], resources = [], resourceNames, verbs }) =>
      includes(verbs, verb) &&
      includes(apiGroups, type.group) &&
      resources.some((resource) => coversResource(resource, type.plural, subresource)) &&
      (resourceNames === undefined || resourceNames.length === 0 || resourceNames.some((each) => matches(each, name))),
  );
}

function includes(values: readonly string[], value: string): boolean {
  return values.includes('*') || values.includes(value);
}

function coversResource(pattern: string, plural: string, subresource: string | undefined): boolean {
  const wanted = subresource === undefined ? plural : `${plural}/${subresource}`;
  if (pattern === '*' || pattern === wanted || pattern.endsWith(`/${wanted}`)) return true;
  return subresource !== undefined && (pattern === `${plural}/*` || pattern === `*/${subresource}`);
}

/** Returns whether a pattern matches a name. A pattern is a name, or contains one `*` for any text. */
function matches(pattern: string, name: string | undefined): boolean {
  if (name === undefined) return false;
  const [start = '', end] = pattern.split('*', 2);
  if (end === undefined) return pattern === name;
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}
