import { circleProblems } from '../../resource/references/reference-circles.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { compileType, type Declarer } from '../../resource/type/type-declaration.ts';
import { conversionStacks, declaringStack, declaringStackOf } from '../errors/declared-places.ts';
import { repeatedTypes } from '../registry/conflicts.ts';
import { decodeDefinition, type Definition } from './definition.ts';

export type CheckedExport =
  | { readonly ok: true; readonly definition: Definition; readonly types: readonly ResourceType[] }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** A problem of a module's export. The first of the stacks with a place in the plugin's code locates the problem. */
export type ExportProblem = {
  readonly text: string;
  readonly stacks: readonly (string | undefined)[];
};

export type CompiledExport = {
  /** Undefined if the definition cannot be decoded. Its types are then unknown. */
  readonly definition: Definition | undefined;
  /** The valid types, with their declarations. */
  readonly types: readonly { readonly type: ResourceType; readonly declaration: unknown }[];
  readonly problems: readonly ExportProblem[];
};

/** Decodes a module's export and compiles its types. Runs foreign code: a getter may throw, or may never return. */
export function compileExport(exported: unknown, declarer: Declarer): CompiledExport {
  const decoded = decodeDefinition(exported);
  if (!decoded.ok) {
    const problems = decoded.problems.map((text) => ({ text, stacks: [declaringStackOf(text, exported)] }));
    return { definition: undefined, types: [], problems };
  }
  const { definition } = decoded;
  const compiled = definition.types.map((declaration) => ({ declaration, type: compileType(declaration, declarer) }));
  const types = compiled.flatMap(({ declaration, type }) => (type.ok ? [{ declaration, type: type.type }] : []));
  const problems = compiled.flatMap(({ declaration, type }) =>
    type.ok
      ? []
      : type.problems.map((text) => {
          const conversion = type.conversions?.get(text);
          const stacks = conversion === undefined ? [] : conversionStacks(conversion);
          return { text, stacks: [...stacks, declaringStack(declaration)] };
        }),
  );
  return { definition, types, problems: [...problems, ...problemsAmong(types, definition, exported)] };
}

/** Returns the problems among the plugin's types: repeated plurals or kinds, and cycles of references. */
function problemsAmong(
  compiled: CompiledExport['types'],
  { types: declared }: Definition,
  exported: unknown,
): readonly ExportProblem[] {
  const types = compiled.map(({ type }) => type);
  const repeated = repeatedTypes(types).map(({ type: own, text }) => {
    const declaration = compiled.find(({ type }) => type === own)?.declaration;
    const isListedTwice = declared.indexOf(declaration) !== declared.lastIndexOf(declaration);
    return { text, stacks: [declaringStack(isListedTwice ? exported : declaration), declaringStack(exported)] };
  });
  const circles = circleProblems(types, []).map((text) => {
    const own = compiled.find(({ type }) => text.startsWith(`references: ${type.key} `));
    return { text, stacks: [declaringStack(own?.declaration), declaringStack(exported)] };
  });
  return [...repeated, ...circles];
}

/** Checks a module's export. `placeOf` returns a place in a stack, in the form ` (at <file>:<line>)`, or ''. */
export function checkExport(
  exported: unknown,
  declarer: Declarer,
  placeOf: (stack: string) => string = () => '',
): CheckedExport {
  const { definition, types, problems } = compileExport(exported, declarer);
  if (definition !== undefined && problems.length === 0)
    return { ok: true, definition, types: types.map(({ type }) => type) };
  const texts = problems.map(({ text, stacks }) => {
    const place = stacks.map((stack = '') => placeOf(stack)).find((each) => each !== '') ?? '';
    return `${text}${place}`;
  });
  return {
    ok: false,
    reason: definition === undefined ? 'DefinitionRefused' : 'TypesRefused',
    message: texts.join('; '),
  };
}
