import { useQuery, useQueryClient } from '@tanstack/vue-query';
import { ClientError } from 'ledgerplane/client';
import { computed, onScopeDispose, watch, type ComputedRef } from 'vue';

import { usePermission, useRights, useServer } from '../../server/use-server.ts';
import { packagePath, pluginType, type PluginObject } from './plugin-object.ts';

type PluginList = { readonly plugins: readonly PluginObject[]; readonly resourceVersion: string };

const key = ['plugins', 'list'];

/** Returns all plugins in the order of their names. One watch keeps the plugins current while the caller is mounted. */
export function usePlugins(): {
  readonly plugins: ComputedRef<readonly PluginObject[] | undefined>;
  readonly error: ComputedRef<Error | null>;
  readonly retry: () => void;
} {
  const { client, platform } = useServer();
  const queries = useQueryClient();
  const type = pluginType(platform.domain);
  const { data, error, refetch, dataUpdatedAt } = useQuery<PluginList>({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const { items, resourceVersion } = await client.list<PluginObject>(type, { signal });
      return { plugins: items, resourceVersion };
    },
    staleTime: 0,
  });
  let watching: AbortController | undefined;
  const follow = async ({ resourceVersion, plugins }: PluginList): Promise<void> => {
    const { signal } = (watching = new AbortController());
    try {
      const from = { resourceVersion, items: plugins };
      for await (const { type: change, object } of client.watch<PluginObject>(type, { from, signal }))
        queries.setQueryData<PluginList>(key, (list) => list && changed(list, object, change === 'DELETED'));
    } catch (failure) {
      watching = undefined;
      // If the user lost the right, the watch ends, and the next read shows the refusal.
      if (!signal.aborted && failure instanceof ClientError) await refetch();
    }
  };
  watch(
    dataUpdatedAt,
    () => {
      if (data.value !== undefined && watching === undefined) void follow(data.value);
    },
    { immediate: true },
  );
  onScopeDispose(() => watching?.abort());
  return {
    plugins: computed(() => data.value?.plugins.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))),
    error: computed(() => (data.value === undefined ? error.value : null)),
    retry: () => void refetch(),
  };
}

function changed({ plugins, resourceVersion }: PluginList, object: PluginObject, isRemoved: boolean): PluginList {
  const others = plugins.filter(({ metadata }) => metadata.uid !== object.metadata.uid);
  return { resourceVersion, plugins: isRemoved ? others : [...others, object] };
}

/** Returns the actions on plugins that the page shows to its user. The server decides each request itself. */
export function usePluginRights(): {
  readonly mayInstall: ComputedRef<boolean>;
  readonly mayUpgrade: ComputedRef<boolean>;
  readonly mayChange: ComputedRef<boolean>;
  readonly mayUninstall: ComputedRef<boolean>;
  readonly mayReadLogs: ComputedRef<boolean>;
  readonly maySeeReconcilers: ComputedRef<boolean>;
} {
  const { platform } = useServer();
  const { may } = usePermission();
  const { rights } = useRights();
  const type = pluginType(platform.domain);
  const consoleType = { ...type, group: `api.console.${platform.domain}` };
  const installPath = packagePath(platform.domain, 'install');
  return {
    mayInstall: computed(() =>
      rights.value.rules.some(
        ({ verbs, nonResourceURLs = [] }) =>
          (verbs.includes('*') || verbs.includes('create')) &&
          nonResourceURLs.some((url) =>
            url.endsWith('*') ? installPath.startsWith(url.slice(0, -1)) : url === installPath,
          ),
      ),
    ),
    mayUpgrade: computed(() => may({ verb: 'create', type: consoleType, subresource: 'upgrade' })),
    mayChange: computed(() => may({ verb: 'patch', type })),
    mayUninstall: computed(() => may({ verb: 'delete', type })),
    mayReadLogs: computed(() => may({ verb: 'get', type: consoleType, subresource: 'logs' })),
    maySeeReconcilers: computed(() => may({ verb: 'list', type: { ...consoleType, plural: 'reconcilers' } })),
  };
}
