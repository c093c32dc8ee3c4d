import { useQuery, useQueryClient } from '@tanstack/vue-query';
import type { RemoteClient, TypeName } from 'ledgerplane/client';
import { computed, type ComputedRef } from 'vue';

import { useLanguage } from '../../locales/use-language.ts';
import { usePermission, useServer } from '../../server/use-server.ts';
import {
  bindingsType,
  previewsType,
  roleOf,
  rolesType,
  usersType,
  type Binding,
  type Role,
  type RoleMap,
  type RoleObject,
} from './access-objects.ts';

/** The maximum number of objects on a page about access. The page shows whether there are more. */
export const objectsMax = 2_000;
/** The interval in milliseconds after which changes by other users are visible. */
export const refreshMs = 15_000;

/** Reads at most `objectsMax` objects, page by page. */
export async function readObjects<T>(
  client: RemoteClient,
  type: TypeName,
  query: { readonly fieldSelector?: string; readonly signal: AbortSignal },
): Promise<readonly T[]> {
  const objects: T[] = [];
  for await (const object of client.items<T>(type, query)) {
    objects.push(object);
    if (objects.length === objectsMax) break;
  }
  return objects;
}

/** Returns all roles, including hidden ones. */
export function useRoles(): {
  readonly roles: ComputedRef<RoleMap | undefined>;
  /** The roles to show in lists. */
  readonly visible: ComputedRef<readonly Role[]>;
  readonly error: ComputedRef<Error | null>;
  readonly retry: () => void;
} {
  const { client, platform } = useServer();
  const { language } = useLanguage();
  const { data, error, refetch } = useQuery({
    queryKey: ['access', 'roles'],
    queryFn: async ({ signal }) => readObjects<RoleObject>(client, rolesType, { signal }),
    staleTime: 2_000,
    refetchInterval: refreshMs,
  });
  const roles = computed(() =>
    data.value === undefined
      ? undefined
      : new Map(data.value.map((object) => [object.metadata.name, roleOf(object, platform.domain, language.value)])),
  );
  return {
    roles,
    visible: computed(() => [...(roles.value?.values() ?? [])].filter(({ isHidden }) => !isHidden)),
    error: computed(() => (data.value === undefined ? error.value : null)),
    retry: () => void refetch(),
  };
}

/** Returns the bindings that a field selector selects, for example those of one user. */
export function useBindings(selector: () => string): {
  readonly bindings: ComputedRef<readonly Binding[] | undefined>;
  readonly error: ComputedRef<Error | null>;
  readonly retry: () => void;
} {
  const { client } = useServer();
  const { data, error, refetch } = useQuery({
    queryKey: computed(() => ['access', 'bindings', selector()]),
    queryFn: async ({ signal }) =>
      selector() === '' ? [] : readObjects<Binding>(client, bindingsType, { fieldSelector: selector(), signal }),
    staleTime: 2_000,
    refetchInterval: refreshMs,
  });
  return {
    bindings: computed(() => data.value?.filter(({ metadata }) => metadata.deletionTimestamp === undefined)),
    error: computed(() => (data.value === undefined ? error.value : null)),
    retry: () => void refetch(),
  };
}

/** Escapes the characters of a value that have a meaning in selectors. */
export function escaped(value: string): string {
  return value.replaceAll(/[\\,=()]/gu, String.raw`\$&`);
}

export function ofUsers(names: readonly string[]): string {
  return names.length === 0 ? '' : `subjects.name=(${names.map(escaped).join(',')})`;
}

export function ofRole(name: string): string {
  return `roleRef.name=${escaped(name)}`;
}

/** Returns the rights of the page's user that pages about access need. */
export function useAccessRights(): Readonly<
  Record<'createUsers' | 'changeUsers' | 'removeUsers' | 'createRoles' | 'bind' | 'preview', ComputedRef<boolean>> & {
    readonly changeRole: (name: string) => boolean;
    readonly removeRole: (name: string) => boolean;
  }
> {
  const { may } = usePermission();
  const { platform } = useServer();
  return {
    createUsers: computed(() => may({ verb: 'create', type: usersType })),
    changeUsers: computed(() => may({ verb: 'patch', type: usersType })),
    removeUsers: computed(() => may({ verb: 'delete', type: usersType })),
    createRoles: computed(() => may({ verb: 'create', type: rolesType })),
    bind: computed(() => may({ verb: 'create', type: bindingsType })),
    preview: computed(() => may({ verb: 'create', type: previewsType(platform.domain) })),
    changeRole: (name) => may({ verb: 'patch', type: rolesType, name }),
    removeRole: (name) => may({ verb: 'delete', type: rolesType, name }),
  };
}

/** Returns a function that reads all data about access again, after a change. */
export function useAccessRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['access'] }),
      queries.invalidateQueries({ queryKey: ['rights'] }),
    ]);
  };
}
