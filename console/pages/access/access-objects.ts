import type { ObjectMetadata, TypeName } from 'ledgerplane/client';

import type { Rule } from '../../server/rights.ts';
import { annotationKey, roleText } from '../../server/role-names.ts';

export const usersType: TypeName = { group: '', version: 'v1alpha1', plural: 'users' };
export const rolesType: TypeName = { group: '', version: 'v1alpha1', plural: 'roles' };
export const bindingsType: TypeName = { group: '', version: 'v1alpha1', plural: 'rolebindings' };

/** The type of the route that explains access decisions, for `may`. */
export function previewsType(domain: string): TypeName {
  return { group: `api.console.${domain}`, version: 'v1alpha1', plural: 'accesspreviews' };
}

export type User = {
  readonly metadata: ObjectMetadata;
  readonly spec?: {
    readonly displayName?: string;
    readonly email?: string;
    readonly disabled?: boolean;
    /** Only written: no response contains the password. */
    readonly password?: string;
  };
  readonly status?: { readonly passwordSetAt?: string };
};

export type Binding = {
  readonly metadata: ObjectMetadata;
  readonly roleRef: { readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string }[];
};

export type RoleObject = {
  readonly metadata: ObjectMetadata;
  readonly rules?: readonly Rule[];
};

/** A role. Its labels and annotations are decoded as the server decodes them. */
export type Role = {
  readonly name: string;
  /** The display name. */
  readonly title: string;
  readonly displayName: string;
  readonly module: string;
  /** The display name of the module. */
  readonly moduleTitle: string;
  readonly dependencies: readonly string[];
  readonly aggregatesTo: readonly string[];
  readonly uiPermissions: readonly string[];
  readonly rules: readonly Rule[];
  readonly isTemplate: boolean;
  readonly isHidden: boolean;
  readonly object: RoleObject;
};

export type RoleMap = ReadonlyMap<string, Role>;

/** The name of the role that nobody can change. */
export const superRole = 'super-role';
/** The prefix of users of the identity provider. Such users have no User object. */
export const providerPrefix = 'oidc:';

export function roleOf(object: RoleObject, domain: string, language: string): Role {
  const { name, labels = {}, annotations = {} } = object.metadata;
  const text = (key: string): string => annotations[annotationKey(domain, key)] ?? '';
  const translated = (key: string): string => roleText(object.metadata, key, { domain, language });
  const prefix = annotationKey(domain, 'aggregate-to-');
  return {
    name,
    title: translated('display-name') || name,
    displayName: text('display-name'),
    module: text('module'),
    moduleTitle: translated('module'),
    dependencies: listIn(text('dependencies')),
    aggregatesTo: Object.entries(labels)
      .filter(([key, value]) => value === 'true' && key.startsWith(prefix))
      .map(([key]) => key.slice(prefix.length)),
    uiPermissions: listIn(text('ui-permissions')),
    rules: object.rules ?? [],
    isTemplate: labels[`${domain}/role-template`] === 'true',
    isHidden: labels[`${domain}/hidden`] === 'true',
    object,
  };
}

/** Returns the names in an annotation; an empty list for a malformed annotation, which the role's status reports. */
function listIn(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

/** Returns the object of a role with other dependencies, for a preview or a write. */
export function roleWith(
  { name, object }: Pick<Role, 'name'> & { readonly object?: RoleObject },
  dependencies: readonly string[],
  domain: string,
): { readonly metadata: object; readonly rules: readonly Rule[] } {
  const { labels, annotations } = object?.metadata ?? {};
  return {
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [annotationKey(domain, 'dependencies')]: JSON.stringify(dependencies) },
    },
    rules: object?.rules ?? [],
  };
}

export type RoleGroup = { readonly module: string; readonly title: string; readonly roles: readonly Role[] };

/** Returns the roles by module, as the server lists templates; roles without a module are last. */
export function groupsOf(roles: readonly Role[]): readonly RoleGroup[] {
  const modules = new Map<string, Role[]>();
  for (const role of roles) {
    const members = modules.get(role.module);
    if (members === undefined) modules.set(role.module, [role]);
    else members.push(role);
  }
  return [...modules]
    .map(([module, members]) => ({
      module,
      title: members[0]?.moduleTitle ?? module,
      roles: members.toSorted((a, b) => a.title.localeCompare(b.title)),
    }))
    .sort((a, b) =>
      a.module === '' || b.module === ''
        ? Number(a.module === '') - Number(b.module === '')
        : a.title.localeCompare(b.title),
    );
}

export function userPath(name: string): string {
  return `/access/users/${encodeURIComponent(name)}`;
}

export function rolePath(name: string, mode = ''): string {
  return `/access/roles/${encodeURIComponent(name)}${mode === '' ? '' : `/${mode}`}`;
}
