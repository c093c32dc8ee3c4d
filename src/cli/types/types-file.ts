import { docComment } from './doc-comment.ts';
import { stringText } from './literal-text.ts';
import type { ServedType } from './served-types.ts';
import { namesOf, type DeclaredNames } from './type-names.ts';
import { memberLines } from './type-text.ts';

/**
 * Returns the text of a module with the types of objects and the constants for calls of a client. The same types always
 * result in the same text.
 */
export function typesFile(types: readonly ServedType[]): string {
  const names = namesOf(types);
  const imported = ['TypeName', 'Typed'];
  if (types.some(({ members }) => members !== undefined)) imported.unshift('ObjectMetadata');
  if (types.some(({ members }) => members === undefined)) imported.unshift('PluginObject');
  const lines = [
    '// Written by `npx ledgerplane types`: run it again instead of editing.',
    `import type { ${imported.sort().join(', ')} } from 'ledgerplane/client';`,
    ...types.flatMap((type, index) => declarationsOf(type, names[index] ?? { type: '', constant: '' })),
  ];
  return `${lines.join('\n')}\n`;
}

function declarationsOf(type: ServedType, names: DeclaredNames): readonly string[] {
  const { group, version, plural, kind, description } = type;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return [
    '',
    ...docComment(description ?? `The objects of ${kind} (${apiVersion}).`, ''),
    ...objectLines(type, names),
    '',
    `/** Names ${kind} (${apiVersion}) in a client's calls. */`,
    `export const ${names.constant}: TypeName & Typed<${names.type}> = {`,
    `  group: ${stringText(group)},`,
    `  version: ${stringText(version)},`,
    `  plural: ${stringText(plural)},`,
    '};',
  ];
}

function objectLines({ members }: ServedType, { type }: DeclaredNames): readonly string[] {
  if (members === undefined) return [`export type ${type} = PluginObject;`];
  return [
    `export type ${type} = {`,
    '  readonly apiVersion: string;',
    '  readonly kind: string;',
    '  readonly metadata: ObjectMetadata;',
    ...memberLines(members, '  '),
    '};',
  ];
}
