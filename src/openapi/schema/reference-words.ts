/**
 * Whether a value contains `$ref`, as the name of a member or as a string. Readers of a document interpret a member
 * `$ref` as a reference anywhere, even inside of an example or in a list of properties. They refuse the document if the
 * target of a reference is missing.
 */
export function holdsReference(value: unknown): boolean {
  return JSON.stringify(value).includes('"$ref"');
}

/** Returns the members without `$ref`. */
export function withoutReference(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $ref: _name, ...others } = members;
  return others;
}
