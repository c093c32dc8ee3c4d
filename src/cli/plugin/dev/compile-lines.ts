/** An error of tsc without colors: `src/note.ts(3,5): error TS2322: …`. */
const compilerError = /^(.+?)\((\d+),(\d+)\): (error|warning) /u;

/** Returns a compiler's output with places as `<file>:<line>:<column>`, which editors and terminals open. */
export function compileLines(printed: string): string {
  return printed
    .split('\n')
    .map((line) => line.replace(compilerError, '$1:$2:$3: $4 '))
    .join('\n');
}
