/**
 * For front ends (`ledgerplane/ui`): whether to show an element to a user with the UI permissions `held`. Any of the
 * `required` ones suffices, an element without any is visible to everybody, and `*` includes all. This only hides
 * actions that the API would refuse: the API decides on its own.
 */
export function permitted(required: Iterable<string> | undefined, held: Iterable<string>): boolean {
  const needed = [...(required ?? [])];
  if (needed.length === 0) return true;
  const present = new Set(held);
  return present.has('*') || needed.some((permission) => present.has(permission));
}
