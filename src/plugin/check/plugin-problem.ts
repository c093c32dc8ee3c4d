export type PluginProblem = {
  /** The path within the plugin's folder; undefined if the problem is not in a single file. */
  readonly file: string | undefined;
  /** Counted from 1; undefined if unknown. */
  readonly line: number | undefined;
  readonly text: string;
  /** Whether the plugin may be correct. For example, a missing object may exist on the server. */
  readonly isWarning?: true;
};

/** Returns `<file>:<line>: <text>`, without unknown parts. The text of a warning has a prefix. */
export function problemText({ file, line, text, isWarning }: PluginProblem): string {
  return [file, line, ` ${isWarning === true ? 'warning: ' : ''}${text}`]
    .filter((part) => part !== undefined)
    .join(':')
    .trimStart();
}
