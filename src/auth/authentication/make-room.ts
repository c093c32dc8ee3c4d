/** Removes the oldest entry of a map that has `max` entries. */
export function makeRoom<Key>(map: Map<Key, unknown>, max: number): void {
  const oldest = map.size >= max ? map.keys().next() : undefined;
  if (oldest?.done === false) map.delete(oldest.value);
}
