/** The stored objects of a type that break its schema or its hook `validate`. */
export type InvalidObjects = {
  /** The plural and group of the type. */
  readonly type: string;
  readonly count: number;
  /** The first invalid object in the order of names, with its first error. */
  readonly first: {
    readonly name: string;
    readonly pointer: string;
    readonly detail: string;
    /** The stack of the error that a hook threw. */
    readonly trace?: string | undefined;
  };
};

/** The results of the leader's checks of stored objects. */
export type ObjectCheckResults = {
  of(plugin: string): readonly InvalidObjects[];
  /** Calls `listener` with the plugin's name when the result of `of` has changed. `listener` must not throw. */
  subscribe(listener: (plugin: string) => void): () => void;
};
