export type BasicPair = {
  readonly username: string;
  readonly password: string;
};

/**
 * Returns the user name and password of an Authorization header (RFC 7617, UTF-8); undefined for other schemes and
 * malformed credentials.
 */
export function basicPair(authorization: string): BasicPair | undefined {
  const credentials = /^basic +([A-Za-z0-9+/_-]+={0,2})$/iu.exec(authorization)?.[1];
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1 || /[\0-\x1f\x7f]/u.test(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

export function basicHeader({ username, password }: BasicPair): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
