/** A problem of a plugin's files, for its author. */
export type PluginProblem = {
  /** The path within the plugin's folder; undefined if the problem is not in a single file. */
  readonly file: string | undefined;
  /** Counted from 1; undefined if unknown. */
  readonly line: number | undefined;
  /** The problem, and how to fix it. */
  readonly text: string;
};

/** Returns `<file>:<line>: <text>`, without the parts that are unknown. */
export function problemText({ file, line, text }: PluginProblem): string {
  return [file, line, ` ${text}`]
    .filter((part) => part !== undefined)
    .join(':')
    .trimStart();
}
