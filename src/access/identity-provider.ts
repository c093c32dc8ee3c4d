/** The settings of the identity provider (decision 7.5). */
export type OidcSettings = {
  /** The required `iss` claim of the provider's tokens. */
  readonly issuer: string;
  /** The required audience of bearer tokens. If undefined, the server accepts no bearer tokens of the provider. */
  readonly audience: string | undefined;
  /** The claim with the user's name. */
  readonly usernameClaim: string;
  /** The URL of the provider's keys. If undefined, the URL is read from the provider's discovery document. */
  readonly jwksUrl: string | undefined;
  /** The registration of this server at the provider. If undefined, users cannot log in at the provider. */
  readonly client: OidcClient | undefined;
};

export type OidcClient = {
  readonly id: string;
  /** Undefined for a public client, which is protected by PKCE alone. */
  readonly secret: string | undefined;
};

/** The prefix of users of the identity provider. No User has this prefix, since names of objects contain no colon. */
export const oidcPrefix = 'oidc:';

/**
 * Returns whether responses from the URL can be trusted: the URL uses HTTPS, or HTTP to this machine. False for a URL
 * with a fragment, or with credentials, which could appear in logs.
 */
export function isTrustedUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(url.hostname);
}
