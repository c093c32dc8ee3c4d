import { useQuery } from '@tanstack/vue-query';
import type { TypeName } from 'ledgerplane/client';
import { computed, type ComputedRef } from 'vue';

import { usePermission, useServer } from './use-server.ts';

type Plugin = {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly displayName?: string };
  readonly status?: { readonly types?: readonly TypeName[] };
};

const refreshMs = 15_000;

export type PluginTitles = {
  /** The display names of plugins, by the name of the plugin. */
  readonly titles: ReadonlyMap<string, string>;
  /** The plugins that declare types, by API group. */
  readonly byGroup: ReadonlyMap<string, string>;
};

/** Returns the display names of plugins; none if the page's user may not list plugins. */
export function usePluginTitles(): ComputedRef<PluginTitles> {
  const { client, platform, session } = useServer();
  const { may } = usePermission();
  const type = computed<TypeName>(() => ({
    group: `plugin.${platform.domain}`,
    version: 'v1alpha1',
    plural: 'plugins',
  }));
  const { data } = useQuery({
    queryKey: computed(() => ['types', 'plugins', session.username.value]),
    queryFn: async ({ signal }) => (await client.list<Plugin>(type.value, { signal })).items,
    enabled: computed(() => session.status.value === 'user' && may({ verb: 'list', type: type.value })),
    staleTime: refreshMs,
    refetchInterval: refreshMs,
  });
  return computed(() => {
    const plugins = data.value ?? [];
    return {
      titles: new Map(plugins.map(({ metadata: { name }, spec: { displayName = name } }) => [name, displayName])),
      byGroup: new Map(
        plugins.flatMap(({ metadata: { name }, status }) =>
          (status?.types ?? []).map(({ group }) => [group, name] as const),
        ),
      ),
    };
  });
}
