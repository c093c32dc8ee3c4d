const quote = 0x22;

/**
 * Returns the text of the member at offset `at`. Returns undefined if the metadata must be parsed, because the member
 * is missing (`at` is -1) or its text contains an escaped character. A quote within a string is escaped, so no string
 * can contain the member.
 */
export function textIn(bytes: Buffer, at: number, member: Buffer): string | undefined {
  const start = at + member.length;
  const end = at === -1 ? -1 : bytes.indexOf(quote, start);
  const text = end === -1 ? '\\' : bytes.toString('utf8', start, end);
  return text.includes('\\') ? undefined : text;
}
