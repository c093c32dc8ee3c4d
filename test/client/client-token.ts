import type { TestServer } from '../support/server/start-server.ts';

/** A personal access token of the administrator. */
export async function tokenOf(server: TestServer): Promise<string> {
  const made = await server.call('/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', {
    method: 'POST',
    body: { metadata: { generateName: 'token-' } },
  });
  const { status } = (await made.json()) as { readonly status: { readonly token: string } };
  return status.token;
}
