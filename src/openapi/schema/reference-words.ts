/**
 * Whether a value contains `$ref`, as the name of a member or as a string. Readers of a document interpret every member
 * `$ref` as a reference, even in an example, and refuse a document with a missing target.
 */
export function holdsReference(value: unknown): boolean {
  return JSON.stringify(value).includes('"$ref"');
}

export function withoutReference(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $ref: _name, ...others } = members;
  return others;
}
