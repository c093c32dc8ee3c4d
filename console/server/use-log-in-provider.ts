import { useQuery } from '@tanstack/vue-query';
import { computed, onScopeDispose, toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue';

import { useServer } from './use-server.ts';

type Methods = {
  readonly methods: readonly { readonly kind: string; readonly path: string; readonly issuer?: string }[];
};

/** An identity provider at which users of this server can log in. */
export type LogInProvider = {
  /** The host of the provider. */
  readonly host: string;
  /**
   * Returns the address that begins a log-in. After the log-in, the browser returns to `path`, for example `/audit`.
   */
  readonly addressFor: (path: string) => string;
};

/** The maximum length of a path to which the server redirects the browser after a log-in. */
const returnPathLengthMax = 512;

/** Returns the identity provider; undefined while it is unknown, or if the server has none. */
export function useLogInProvider(enabled: MaybeRefOrGetter<boolean> = true): ComputedRef<LogInProvider | undefined> {
  const { client, connection } = useServer();
  const { data, refetch } = useQuery({
    queryKey: ['log-in-methods'],
    queryFn: async ({ signal }) => client.request<Methods>('/login/methods', { signal }),
    enabled: () => toValue(enabled),
    staleTime: 60_000,
  });
  onScopeDispose(
    connection.onRestored(() => {
      if (toValue(enabled)) void refetch();
    }),
  );
  return computed(() => {
    const method = data.value?.methods.find(({ kind }) => kind === 'oidc');
    if (method === undefined) return undefined;
    const { path, issuer = '' } = method;
    return {
      host: URL.canParse(issuer) ? new URL(issuer).host : issuer,
      addressFor: (to) => `${path}?return=${encodeURIComponent(returnPathOf(to))}`,
    };
  });
}

/** Returns a path of the console that the server accepts. Removes the query of a path that is too long. */
function returnPathOf(path: string): string {
  const { pathname, search, hash } = new URL(`/console${path}`, location.origin);
  const whole = `${pathname}${search}${hash}`;
  if (whole.length <= returnPathLengthMax) return whole;
  return pathname.length <= returnPathLengthMax ? pathname : '/console/';
}
