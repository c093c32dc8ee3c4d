/** `Warning: 299 - "text"`; a header has no control characters, and only ASCII is safe for every reader. */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  return warnings.flatMap((text) => [
    'Warning',
    `299 - "${text.replaceAll(/[^\x20-\x7e]/gu, '?').replaceAll(/["\\]/gu, '\\$&')}"`,
  ]);
}
