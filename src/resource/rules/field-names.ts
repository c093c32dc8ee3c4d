/** The reserved words of CEL, the language of rules. */
const reserved: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

const escapes: readonly (readonly [RegExp, string])[] = [
  [/__/gu, '__underscores__'],
  [/\./gu, '__dot__'],
  [/-/gu, '__dash__'],
  [/\//gu, '__slash__'],
];

/**
 * Returns the name by which rules read a member, as in Kubernetes. `__`, `.`, `-` and `/` become `__underscores__`,
 * `__dot__`, `__dash__` and `__slash__`. A reserved word gets `__` on each side. Returns undefined for a member that
 * rules cannot read.
 */
export function escapedFieldName(member: string): string | undefined {
  if (reserved.has(member)) return `__${member}__`;
  const field = escapes.reduce((name, [pattern, escaped]) => name.replaceAll(pattern, escaped), member);
  return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(field) && field !== '__proto__' ? field : undefined;
}
