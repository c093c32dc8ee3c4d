/** Decodes an integer query parameter of at least `least`. Returns undefined for an invalid or repeated parameter. */
export function wholeNumber(
  value: string | readonly string[] | undefined,
  absent: number,
  least: 0 | 1,
): number | undefined {
  if (value === undefined) return absent;
  return typeof value === 'string' && /^[0-9]{1,9}$/u.test(value) && Number(value) >= least ? Number(value) : undefined;
}

/** Escapes a text for use as a value in a selector. */
export function escaped(text: string): string {
  return text.replaceAll(/[\\,=() \t\r\n]/gu, String.raw`\$&`);
}

export function listOf(given: string | readonly string[] | undefined): readonly string[] {
  if (given === undefined) return [];
  return typeof given === 'string' ? [given] : given;
}

/** Returns whether a list request is a request to watch, by the rules of the generated APIs. */
export function asksToWatch(given: string | readonly string[] | undefined): boolean {
  const [first] = listOf(given);
  return first !== undefined && first !== '0' && first.toLowerCase() !== 'false';
}
