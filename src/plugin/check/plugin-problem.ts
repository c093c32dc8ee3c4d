/** A problem of a plugin's files, for its author. */
export type PluginProblem = {
  /** The path within the plugin's folder; undefined if the problem is not in a single file. */
  readonly file: string | undefined;
  /** Counted from 1; undefined if unknown. */
  readonly line: number | undefined;
  /** The problem, and in some cases how to fix it. */
  readonly text: string;
  /** Whether the plugin may be correct, as for the name of an object that a server may have. */
  readonly isWarning?: true;
};

/** Returns `<file>:<line>: <text>`, without the parts that are unknown. The text of a warning has a prefix. */
export function problemText({ file, line, text, isWarning }: PluginProblem): string {
  return [file, line, ` ${isWarning === true ? 'warning: ' : ''}${text}`]
    .filter((part) => part !== undefined)
    .join(':')
    .trimStart();
}
