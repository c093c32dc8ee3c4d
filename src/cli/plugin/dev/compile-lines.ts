/** The beginning of an error or a warning of tsc without colors: `src/note.ts(3,5): error TS2322: …`. */
const compilerError = /^(.+?)\((\d+),(\d+)\): (error|warning) /u;

/** Returns a compiler's output with places as `<file>:<line>:<column>`, which editors and terminals turn into links. */
export function compileLines(printed: string): string {
  return printed
    .split('\n')
    .map((line) => line.replace(compilerError, '$1:$2:$3: $4 '))
    .join('\n');
}
