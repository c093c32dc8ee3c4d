/**
 * For front ends (`ledgerplane/ui`): whether an element that lists UI permissions is shown to somebody who holds `held`. Any of
 * them will do, an element that lists none is everybody's, and `*` holds them all. It only spares people what the API would
 * refuse them: the API decides by itself.
 */
export function permitted(required: Iterable<string> | undefined, held: Iterable<string>): boolean {
  const needed = [...required ?? []];
  if (needed.length === 0) return true;
  const present = new Set(held);
  return present.has('*') || needed.some((permission) => present.has(permission));
}
