const quote = 0x22;

/**
 * The text of the member at `at`, or undefined if the metadata must be parsed: without the member, and for a text with
 * an escaped character. A quote within a string is escaped, so no string can hold the member.
 */
export function textIn(bytes: Buffer, at: number, member: Buffer): string | undefined {
  const start = at + member.length;
  const end = at === -1 ? -1 : bytes.indexOf(quote, start);
  const text = end === -1 ? '\\' : bytes.toString('utf8', start, end);
  return text.includes('\\') ? undefined : text;
}
