/** The last log lines of each plugin on this node. Their total size is limited: older lines are dropped. */
export type PluginLogLines = {
  /**
   * Returns the lines of a plugin after the cursor, oldest first. Returns all stored lines if there is no cursor, or if
   * the cursor is from an earlier start of this node. Returns undefined if the plugin has logged nothing.
   */
  read(plugin: string, after: string | undefined): PluginLogPage | undefined;
};

export type PluginLogPage = {
  /** Each line is a JSON object: `time`, `level`, `message` and, if there are any, `fields`. */
  readonly lines: readonly Uint8Array[];
  /** The cursor after the last line. */
  readonly cursor: string;
  /** The number of lines that are missing after the given cursor, because they were dropped to keep the limits. */
  readonly dropped: number;
};
