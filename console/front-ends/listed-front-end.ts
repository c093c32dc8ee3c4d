import type { RemoteClient } from 'ledgerplane/client';

/** A front end of a started plugin, as the server lists it. The addresses change whenever a file changes. */
export type ListedFrontEnd = {
  readonly plugin: string;
  readonly version: string;
  readonly module: string;
  readonly styles?: string;
};

/** Reads the front ends of the started plugins. */
export async function readFrontEnds(
  client: RemoteClient,
  domain: string,
  signal: AbortSignal,
): Promise<readonly ListedFrontEnd[]> {
  const path = `/apis/api.console.${domain}/v1alpha1/frontends`;
  const answer = await client.request<{ readonly items: readonly ListedFrontEnd[] }>(path, { signal });
  return answer?.items ?? [];
}
