/**
 * Whether a value contains a member `$ref`. Readers interpret `$ref` as a reference anywhere, even inside of a value or
 * as the name of a property. They refuse a document if the target of a reference is missing.
 */
export function holdsReference(value: unknown): boolean {
  return JSON.stringify(value).includes('"$ref"');
}

/** Returns the members without `$ref`. */
export function withoutReference(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $ref: _name, ...others } = members;
  return others;
}
