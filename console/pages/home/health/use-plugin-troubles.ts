import { useQuery } from '@tanstack/vue-query';
import { computed, type ComputedRef } from 'vue';

import { usePermission, useServer } from '../../../server/use-server.ts';

type Condition = { readonly type: string; readonly status: string; readonly reason: string; readonly message?: string };
type ShownPlugin = {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly displayName?: string; readonly enabled?: boolean };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
};

/** A plugin that needs attention. */
export type PluginTrouble = {
  readonly name: string;
  readonly title: string;
  readonly reason: string;
  readonly message: string | undefined;
};

const refreshMs = 15_000;
const listedMax = 200;

/** Returns the plugins that have failed or report a problem; undefined while the plugins are unknown. */
export function usePluginTroubles(): {
  readonly mayRead: ComputedRef<boolean>;
  readonly troubles: ComputedRef<readonly PluginTrouble[] | undefined>;
  readonly error: ComputedRef<Error | null>;
} {
  const { client, platform } = useServer();
  const { may } = usePermission();
  const type = { group: `plugin.${platform.domain}`, version: 'v1alpha1', plural: 'plugins' };
  const mayRead = computed(() => may({ verb: 'list', type }));
  const { data, error } = useQuery({
    queryKey: ['home', 'plugins'],
    queryFn: async ({ signal }) =>
      (await client.list<ShownPlugin>(type, { page: 1, size: listedMax, signal })).items.flatMap(troubleOf),
    enabled: mayRead,
    refetchInterval: refreshMs,
  });
  return { mayRead, troubles: computed(() => data.value), error: computed(() => error.value) };
}

/** Returns a trouble if the plugin has failed, or has a true condition other than `Ready`. */
function troubleOf({ metadata: { name }, spec, status = {} }: ShownPlugin): readonly PluginTrouble[] {
  const { phase, conditions = [] } = status;
  const condition =
    phase === 'failed'
      ? conditions.find(({ type }) => type === 'Ready')
      : conditions.find((each) => each.type !== 'Ready' && each.status === 'True');
  if (phase !== 'failed' && condition === undefined) return [];
  return [
    {
      name,
      title: spec.displayName ?? name,
      reason: condition?.reason ?? phase ?? '',
      message: condition?.message,
    },
  ];
}
