import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';

import { isObject } from '../../base/guards.ts';
import type { OidcSettings } from '../../access/identity-provider.ts';
import { oidcUnknownKeyMs } from '../../limits/access.ts';
import { discover, ProviderValue, readDocument, urlIn, type ProviderDependencies } from './provider-documents.ts';

export type OidcDependencies = ProviderDependencies & { readonly settings: OidcSettings };

type FindKey = ReturnType<typeof createLocalJWKSet>;

/**
 * The identity provider's public keys. The keys are also fetched for a token that names an unknown key, since the
 * provider may have rotated its keys. Such fetches have a limited rate, so that clients cannot cause any number of
 * requests.
 */
export class IssuerKeys {
  readonly #keys: ProviderValue<FindKey>;

  constructor(dependencies: OidcDependencies) {
    const { settings, fetch } = dependencies;
    this.#keys = new ProviderValue({
      ...dependencies,
      noun: 'the keys',
      read: async (signal) => {
        const url = settings.jwksUrl ?? urlIn(await discover(fetch, settings.issuer, signal), 'jwks_uri');
        return createLocalJWKSet(keySetOf(await readDocument(fetch, url, signal)));
      },
    });
  }

  /** Returns the key of a token. Throws a `ProviderUnavailableError` while the keys are not available. */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const keys = await this.#keys.get();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || this.#keys.ageMs() < oidcUnknownKeyMs) throw error;
    }
    return (await this.#keys.refresh())(header, token);
  }
}

function keySetOf(document: Readonly<Record<string, unknown>>): JSONWebKeySet {
  if (!isKeySet(document)) throw new Error('the keys are not a JSON Web Key Set');
  return document;
}

function isKeySet(document: object): document is JSONWebKeySet {
  return (
    'keys' in document &&
    Array.isArray(document.keys) &&
    document.keys.every((key: unknown) => isObject(key) && typeof key['kty'] === 'string')
  );
}
