import { join } from 'node:path';
import ts from 'typescript';

import { repository } from '../architecture/repository.ts';

const strictest: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  skipLibCheck: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  types: [],
  module: ts.ModuleKind.NodeNext,
};

/**
 * Returns the compiler's errors in a program of these files, each as `<file>:<line>: <message>`. `files` maps names to
 * texts. The program sees the files in the repository's folder, where the package can import itself by name, but
 * nothing is written to disk.
 */
export function compileErrors(
  sources: Readonly<Record<string, string>>,
  options: ts.CompilerOptions = {},
): readonly string[] {
  const folder = join(repository, 'test', 'compiled');
  const texts = new Map(Object.entries(sources).map(([name, text]) => [join(folder, name), text]));
  const settings = { ...strictest, ...options };
  const disk = ts.createCompilerHost(settings);
  const host: ts.CompilerHost = {
    ...disk,
    directoryExists: (path) => path === folder || disk.directoryExists?.(path) === true,
    fileExists: (path) => texts.has(path) || disk.fileExists(path),
    readFile: (path) => texts.get(path) ?? disk.readFile(path),
    getSourceFile: (path, language, ...more) => {
      const text = texts.get(path);
      return text === undefined
        ? kept(path, () => disk.getSourceFile(path, language, ...more))
        : ts.createSourceFile(path, text, language);
    },
  };
  const program = ts.createProgram([...texts.keys()], settings, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    const name = file?.fileName.replace(`${folder}/`, '') ?? '';
    return `${name}:${line.toString()}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const files = new Map<string, ts.SourceFile | undefined>();

/** Caches the declarations of the language and of the package, since all programs share them. */
function kept(path: string, read: () => ts.SourceFile | undefined): ts.SourceFile | undefined {
  if (!files.has(path)) files.set(path, read());
  return files.get(path);
}

/** The beginning of a file that can assert with `same<A, B>()` that two types are equal. */
export const sameText = `
type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
function same<Left, Right>(..._: Same<Left, Right> extends true ? [] : ['differs', Left, Right]): void {}
`;
