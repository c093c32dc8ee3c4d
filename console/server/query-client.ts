import { QueryCache, QueryClient } from '@tanstack/vue-query';
import { ClientError, ConnectionError } from 'ledgerplane/client';

import type { Server } from './server.ts';

/** Creates the cache of responses. After a lost connection, all queries on the page are read again. */
export function createQueryClient({ connection, session }: Server): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey: [first] }) => {
        if (error instanceof ClientError && error.status === 403 && first !== 'rights')
          void client.invalidateQueries({ queryKey: ['rights'] });
      },
    }),
    defaultOptions: {
      queries: { retry: shouldRetry, networkMode: 'always', refetchOnReconnect: false, gcTime: 60_000 },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  connection.onRestored(() => {
    if (session.status.value === 'user') void client.invalidateQueries();
  });
  return client;
}

/**
 * Queries do not retry after a lost connection: `ConnectionState` probes the server, and then all queries are read
 * again.
 */
function shouldRetry(failures: number, error: unknown): boolean {
  if (error instanceof ConnectionError) return false;
  return error instanceof ClientError && [429, 504].includes(error.status) && failures < 3;
}
