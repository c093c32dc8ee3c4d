import type { CategoryFilter } from './log.ts';

/**
 * Returns a function that tests whether a stream has one of the categories. An undefined filter matches every stream.
 */
export function categoryTest(categories: CategoryFilter): (stream: string) => boolean {
  if (categories === undefined) return () => true;
  const prefixes = categories.map((category) => `${category}:`);
  return (stream) => prefixes.some((prefix) => stream.startsWith(prefix));
}
