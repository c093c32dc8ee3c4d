/**
 * Readers of documents take a member `$ref` for a reference wherever it is, also in a value or as the name of a member:
 * one that leads nowhere breaks the document for them.
 */
export function holdsReference(value: unknown): boolean {
  return JSON.stringify(value).includes('"$ref"');
}

/** The members without one of this name. */
export function withoutReference(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $ref: _name, ...others } = members;
  return others;
}
