const quote = 0x22;

/**
 * Returns the text of the member at offset `at`; undefined if the metadata must be parsed. The metadata must be parsed
 * if `at` is -1 or the text contains an escaped character. Strings escape quotes, so a search for `member`, with its
 * quotes, never finds a part of a string.
 */
export function textIn(bytes: Buffer, at: number, member: Buffer): string | undefined {
  const start = at + member.length;
  const end = at === -1 ? -1 : bytes.indexOf(quote, start);
  const text = end === -1 ? '\\' : bytes.toString('utf8', start, end);
  return text.includes('\\') ? undefined : text;
}
