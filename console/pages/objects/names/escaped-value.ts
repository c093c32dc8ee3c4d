/** Escapes the characters of a value that have a meaning in selectors. */
export function escapedValue(value: string): string {
  return value.replaceAll(/[\\,=()]|^ | $/gu, String.raw`\$&`);
}
