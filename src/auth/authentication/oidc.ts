import { errors, jwtVerify, type JWTPayload } from 'jose';

import { oidcClaimLengthMax, oidcLeewayMs } from '../../limits/access.ts';
import type { UserSubject } from '../../command/subject.ts';
import { oidcPrefix } from '../../access/identity-provider.ts';
import { unavailableNow, unauthorized, type Authenticated, type NotAuthenticated } from './authenticated.ts';
import { IssuerKeys, type OidcDependencies } from './issuer-keys.ts';
import { ProviderUnavailableError } from './provider-documents.ts';

/**
 * The accepted algorithms: only public-key signatures. HMAC is not accepted, because others may know the secret, and
 * `none` is not a signature.
 */
export const oidcAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

export type OidcVerified = { readonly ok: true; readonly subject: UserSubject } | NotAuthenticated;

const refused = unauthorized(
  'the bearer token is neither a token of this server nor a valid token of the identity provider',
);

/**
 * Verifies bearer tokens of the configured identity provider (decision 7.5). A token authenticates the user
 * `oidc:<claim>`, which needs no User object. The names of local users contain no colon.
 */
export class OidcVerifier {
  readonly #dependencies: OidcDependencies;
  readonly #keys: IssuerKeys;

  constructor(dependencies: OidcDependencies) {
    this.#dependencies = dependencies;
    this.#keys = new IssuerKeys(dependencies);
  }

  /** Verifies a bearer token. Without a configured audience, no bearer token of the provider is accepted. */
  async verify(token: string): Promise<Authenticated> {
    const { audience } = this.#dependencies.settings;
    return audience === undefined ? refused : this.verifyFor(audience, token);
  }

  /** Verifies a token that the provider has issued for `audience`. */
  async verifyFor(audience: string, token: string): Promise<OidcVerified> {
    const payload = await this.#verified(token, audience);
    if (payload === 'unavailable') return unavailableNow;
    if (payload === undefined) return refused;
    const claim = userClaim(payload, this.#dependencies.settings.usernameClaim);
    if (claim === undefined || payload.exp === undefined) return refused;
    return {
      ok: true,
      subject: {
        kind: 'user',
        name: `${oidcPrefix}${claim}`,
        credential: { kind: 'oidc', expiresAt: payload.exp * 1_000 + oidcLeewayMs },
      },
    };
  }

  async #verified(token: string, audience: string): Promise<JWTPayload | 'unavailable' | undefined> {
    const {
      settings: { issuer },
      clock,
    } = this.#dependencies;
    try {
      const { payload } = await jwtVerify(token, async (header, jws) => this.#keys.find(header, jws), {
        issuer,
        audience,
        algorithms: [...oidcAlgorithms],
        requiredClaims: ['exp'],
        clockTolerance: oidcLeewayMs / 1_000,
        currentDate: new Date(clock.now()),
      });
      return payload;
    } catch (error) {
      if (error instanceof ProviderUnavailableError) return 'unavailable';
      // The runtime throws a TypeError for a key that does not fit the algorithm.
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
        return undefined;
      throw error;
    }
  }
}

/**
 * Returns the user name from the claim; undefined if missing or invalid. Bindings and events contain the name, so the
 * name must be short and without control characters.
 */
function userClaim(payload: JWTPayload, name: string): string | undefined {
  const claim = Object.hasOwn(payload, name) ? payload[name] : undefined;
  if (typeof claim !== 'string' || claim === '' || claim.length > oidcClaimLengthMax || /[\p{Cc}\p{Cs}]/u.test(claim))
    return undefined;
  // An unverified email address may belong to another person.
  return name === 'email' && payload['email_verified'] === false ? undefined : claim;
}
