/**
 * Whether a value contains a member `$ref`. Readers take it for a reference anywhere, also in a value or as a member's
 * name, and a reference without a target breaks the document for them.
 */
export function holdsReference(value: unknown): boolean {
  return JSON.stringify(value).includes('"$ref"');
}

/** The members without one of this name. */
export function withoutReference(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $ref: _name, ...others } = members;
  return others;
}
