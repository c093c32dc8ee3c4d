import type { QueryClient } from '@tanstack/vue-query';
import { ClientError, ConnectionError } from 'ledgerplane/client';
import { shallowRef, watch } from 'vue';

import { after, now } from './browser-clock.ts';
import { readRights, rightsKey, type Rights } from './rights.ts';
import type { Server } from './server.ts';

/** The server responds after this time in seconds, even without a change. */
const waitSeconds = 25;
/** The minimum time in milliseconds between two requests. A server that does not support waiting responds at once. */
const shortestWaitMs = 1_000;
/** The pause in milliseconds after a refusal, for example because too many pages of the user wait. */
const pauseMs = 15_000;

/**
 * Follows the rights of the page's user while the page is visible and the server is reachable. One request waits at the
 * server until the rights change.
 */
export function followRights(server: Server, queries: QueryClient): void {
  const { session, connection } = server;
  const isVisible = shallowRef(!document.hidden);
  document.addEventListener('visibilitychange', () => {
    isVisible.value = !document.hidden;
  });
  watch(
    [session.status, session.username, isVisible, connection.status],
    ([status, username], _, onCleanup) => {
      if (status !== 'user' || !isVisible.value || connection.status.value !== 'connected') return;
      const leaving = new AbortController();
      onCleanup(() => {
        leaving.abort();
      });
      void follow(server, queries, { username, signal: leaving.signal });
    },
    { immediate: true },
  );
}

async function follow(
  { client, platform }: Pick<Server, 'client' | 'platform'>,
  queries: QueryClient,
  { username, signal }: { readonly username: string; readonly signal: AbortSignal },
): Promise<void> {
  const queryKey = rightsKey(username);
  const read = async (known?: string): Promise<Rights | undefined> =>
    readRights(client, platform.domain, { signal, ...(known === undefined ? {} : { known, waitSeconds }) });
  while (!signal.aborted) {
    const began = now();
    try {
      const rights = await read(queries.getQueryData<Rights>(queryKey)?.tag);
      if (rights !== undefined) queries.setQueryData(queryKey, rights);
      else if (now() - began < shortestWaitMs) await pause(shortestWaitMs, signal);
    } catch (error) {
      // The function runs again when the session or the connection is back.
      if (error instanceof ConnectionError) return;
      if (error instanceof ClientError && error.status === 401) return;
      await pause(pauseMs, signal);
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = after(ms, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });
}
