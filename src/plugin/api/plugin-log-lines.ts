/** The latest log lines of each plugin on this node. Older lines are dropped to limit the total size. */
export type PluginLogLines = {
  /**
   * Returns the lines of a plugin after the cursor, oldest first. Returns all stored lines without a cursor, or with a
   * cursor from an earlier start of this node. Returns undefined if the plugin has logged nothing.
   */
  read(plugin: string, after: string | undefined): PluginLogPage | undefined;
};

export type PluginLogPage = {
  /** Each line is a JSON object with `time`, `level`, `message` and optionally `fields`. */
  readonly lines: readonly Uint8Array[];
  /** The cursor after the last line. */
  readonly cursor: string;
  /** The number of lines after the given cursor that are missing because of the size limits. */
  readonly dropped: number;
};
