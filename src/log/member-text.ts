const quote = 0x22;

/**
 * Returns the text of the member at offset `at`. Returns undefined if the metadata must be parsed, because the member
 * is missing (`at` is -1) or its text contains an escaped character. `member` contains the quotes around the member's
 * name. Quotes within strings are escaped, so a search for `member` cannot find a part of a string.
 */
export function textIn(bytes: Buffer, at: number, member: Buffer): string | undefined {
  const start = at + member.length;
  const end = at === -1 ? -1 : bytes.indexOf(quote, start);
  const text = end === -1 ? '\\' : bytes.toString('utf8', start, end);
  return text.includes('\\') ? undefined : text;
}
