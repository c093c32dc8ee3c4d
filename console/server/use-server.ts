import { useQuery, useQueryClient } from '@tanstack/vue-query';
import { permitted } from 'ledgerplane/ui';
import { computed, inject, type ComputedRef, type InjectionKey } from 'vue';
import { useI18n } from 'vue-i18n';

import { mayRequest, noRights, readRights, rightsKey, type Intent, type Rights } from './rights.ts';
import type { Server } from './server.ts';
import { typeTitle, type NamedType } from './type-title.ts';
import { readTypes, type ServedType, type TypeGroup } from './served-types.ts';

export const serverKey: InjectionKey<Server> = Symbol('server');

export function useServer(): Server {
  const server = inject(serverKey);
  if (server === undefined) throw new Error('the page has no server');
  return server;
}

/** The interval in milliseconds at which types are read, so that changes take effect without a reload. */
const refreshMs = 15_000;

/**
 * Returns the rights of the page's user, which follow changes without a reload; no rights while the rights are unknown.
 */
export function useRights(): {
  readonly rights: ComputedRef<Rights>;
  /** Whether the rights are known. */
  readonly isKnown: ComputedRef<boolean>;
  /** Reads the rights again, for example after the server has refused a request. */
  readonly refresh: () => Promise<void>;
} {
  const { client, session, platformOf } = useServerParts();
  const queries = useQueryClient();
  const isUser = computed(() => session.status.value === 'user');
  // `followRights` replaces the data when the rights change.
  const { data } = useQuery({
    queryKey: computed(() => rightsKey(session.username.value)),
    queryFn: async ({ signal }) => (await readRights(client, platformOf().domain, { signal })) ?? noRights,
    enabled: isUser,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  return {
    rights: computed(() => data.value ?? noRights),
    isKnown: computed(() => data.value !== undefined),
    refresh: async () => queries.invalidateQueries({ queryKey: ['rights'] }),
  };
}

function useServerParts(): Pick<Server, 'client' | 'session'> & { readonly platformOf: () => Server['platform'] } {
  const server = useServer();
  return { client: server.client, session: server.session, platformOf: () => server.platform };
}

/** Returns functions that decide which elements the page shows to its user. */
export function usePermission(): {
  /** Returns whether the user has at least one of these UI permissions. Returns true without permissions. */
  readonly has: (permissions: readonly string[] | undefined) => boolean;
  /** Returns whether the user's roles allow a request for objects. */
  readonly may: (intent: Intent) => boolean;
  readonly isKnown: ComputedRef<boolean>;
} {
  const { rights, isKnown } = useRights();
  return {
    has: (permissions) => permitted(permissions, rights.value.uiPermissions),
    may: (intent) => mayRequest(rights.value.rules, intent),
    isKnown,
  };
}

/** Returns a function that returns the name of a type in the page's language. */
export function useTypeTitle(): (type: NamedType) => string {
  const texts = useI18n();
  const server = useServer();
  return (type) => typeTitle(type, server.platform.domain, texts);
}

/** Returns the types that the page's user may list, by group. */
export function useTypes(): {
  readonly groups: ComputedRef<readonly TypeGroup[]>;
  readonly types: ComputedRef<readonly ServedType[]>;
  readonly isPending: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  /** Returns the type at an address; undefined if no such type exists, or while the types are being read. */
  readonly find: (group: string, version: string, plural: string) => ServedType | undefined;
} {
  const { client, session } = useServer();
  const { may, isKnown } = usePermission();
  const { data, error } = useQuery({
    queryKey: ['types'],
    queryFn: async ({ signal }) => readTypes(client, signal),
    enabled: computed(() => session.status.value === 'user'),
    staleTime: refreshMs,
    refetchInterval: refreshMs,
  });
  const titleOf = useTypeTitle();
  const titled = computed(() =>
    (data.value ?? []).map(({ group, types }) => ({
      group,
      types: types.map((type) => ({ ...type, title: titleOf(type) })),
    })),
  );
  const groups = computed(() =>
    titled.value
      .map(({ group, types }) => ({ group, types: types.filter((type) => may({ verb: 'list', type })) }))
      .filter(({ types }) => types.length > 0),
  );
  const all = computed(() => titled.value.flatMap(({ types }) => types));
  return {
    groups,
    types: computed(() => groups.value.flatMap(({ types }) => types)),
    isPending: computed(() => error.value === null && (data.value === undefined || !isKnown.value)),
    error: computed(() => error.value),
    find: (group, version, plural) =>
      all.value.find((type) => type.group === group && type.version === version && type.plural === plural) ??
      all.value.find((type) => type.group === group && type.plural === plural),
  };
}
