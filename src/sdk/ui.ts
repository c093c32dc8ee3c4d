/**
 * Returns whether a front end (`ledgerplane/ui`) should show an element to a user with the UI permissions `held`. One
 * of the `required` permissions suffices, and `*` includes all permissions. An element without required permissions is
 * visible to all users. Use the result only for the display, because the API checks every request itself.
 */
export function permitted(required: Iterable<string> | undefined, held: Iterable<string>): boolean {
  const needed = [...(required ?? [])];
  if (needed.length === 0) return true;
  const present = new Set(held);
  return present.has('*') || needed.some((permission) => present.has(permission));
}
