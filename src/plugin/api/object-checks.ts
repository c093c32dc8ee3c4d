import type { Slices } from '../../base/slices.ts';
import type { Steps } from '../../base/steps.ts';

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

/** Runs code of plugins, and interrupts code that does not return within `limitMs` milliseconds. */
export type LimitedRuns = {
  /** Runs the steps to the end in slices. Resolves with false if a step does not return. */
  inSlices(steps: Steps<unknown>, slices: Pick<Slices, 'isOver' | 'next'>): Promise<boolean>;
  /** Returns false if the call does not return. */
  call(run: () => void): boolean;
  readonly limitMs: number;
};

/** The results of the leader's checks of stored objects. */
export type ObjectCheckResults = {
  of(plugin: string): readonly InvalidObjects[];
  /** Calls `listener` with the plugin's name when the result of `of` has changed. `listener` must not throw. */
  subscribe(listener: (plugin: string) => void): () => void;
};
