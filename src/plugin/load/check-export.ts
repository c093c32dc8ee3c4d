import { stackOf } from '../../base/error-message.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { compileType, type Declarer } from '../../resource/type/type-declaration.ts';
import { decodeDefinition, type Definition } from './definition.ts';

export type CheckedExport =
  | { readonly ok: true; readonly definition: Definition; readonly types: readonly ResourceType[] }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/**
 * Decodes a module's export and compiles its types. Runs foreign code: a getter may throw, or may never return.
 * `placeOf` returns the place at which an error was thrown, in the form ` (at <file>:<line>)`.
 */
export function checkExport(
  exported: unknown,
  declarer: Declarer,
  placeOf: (stack: string) => string = () => '',
): CheckedExport {
  const decoded = decodeDefinition(exported);
  if (!decoded.ok) return { ok: false, reason: 'DefinitionRefused', message: decoded.problems.join('; ') };
  const { definition } = decoded;
  const compiled = definition.types.map((declaration) => compileType(declaration, declarer));
  const problems = compiled.flatMap((type) =>
    type.ok ? [] : type.problems.map((text) => `${text}${placeOf(stackOf(type.conversions?.get(text)?.thrown) ?? '')}`),
  );
  if (problems.length > 0) return { ok: false, reason: 'TypesRefused', message: problems.join('; ') };
  return {
    ok: true,
    definition,
    types: compiled.flatMap((type) => (type.ok ? [type.type] : [])),
  };
}
