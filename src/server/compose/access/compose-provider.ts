import { OidcVerifier } from '../../../auth/authentication/oidc.ts';
import { ProviderLogIn } from '../../../auth/provider-log-in/provider-log-in.ts';
import type { Core } from '../core.ts';

/** The identity provider: `verifier` checks its tokens, and `logIn` performs log-ins in browsers. */
export type Provider = {
  readonly issuer: string | undefined;
  readonly verifier: OidcVerifier | undefined;
  readonly logIn: ProviderLogIn | undefined;
};

export function composeProvider({ config: { oidc }, edge: { clock, log } }: Pick<Core, 'config' | 'edge'>): Provider {
  if (oidc === undefined) return { issuer: undefined, verifier: undefined, logIn: undefined };
  const onProblem = (problem: string): void => {
    log.error('cannot use the identity provider', { problem });
  };
  const dependencies = { settings: oidc, clock, fetch, onProblem };
  const verifier = new OidcVerifier(dependencies);
  const { issuer, client } = oidc;
  return {
    issuer,
    verifier,
    logIn: client === undefined ? undefined : new ProviderLogIn({ ...dependencies, client, verifier }),
  };
}
