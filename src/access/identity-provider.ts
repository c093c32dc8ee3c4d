/** The identity provider whose tokens count (decision 7.5), as the configuration names it. */
export type OidcSettings = {
  /** Exactly as its tokens name it. */
  readonly issuer: string;
  readonly audience: string;
  /** The claim that becomes the user's name. */
  readonly usernameClaim: string;
  /** Undefined: its discovery document says where its keys are. */
  readonly jwksUrl: string | undefined;
};

/** Whether what is answered there can be believed: over TLS, or from this very machine. Credentials in it could end up in a log. */
export function isTrustedUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(url.hostname);
}
