/** Returns the member as one reference token of a JSON pointer (RFC 6901, 3). */
export function escapeToken(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the member, or the index in an array, that a reference token names. */
export function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
