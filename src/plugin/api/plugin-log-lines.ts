/** The log lines of plugins that this node still stores. */
export type PluginLogLines = {
  /**
   * Returns the lines of a plugin after the cursor, oldest first. Returns all lines without a cursor, or with a cursor
   * from another start of this node. Undefined: the plugin has logged nothing.
   */
  read(plugin: string, after: string | undefined): PluginLogPage | undefined;
};

export type PluginLogPage = {
  /** Each line is a JSON object: `time`, `level`, `message` and, if there are any, `fields`. */
  readonly lines: readonly Uint8Array[];
  /** The cursor after the last line. */
  readonly cursor: string;
  /** The number of lines after the given cursor that were dropped to keep the limits. */
  readonly dropped: number;
};
