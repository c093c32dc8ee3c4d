import type { ResourceType } from '../resource/type/resource-type.ts';

/** An object with a value that another object has claimed. */
export type Duplicate = {
  readonly name: string;
  readonly index: string;
  readonly holder: string;
};

/** The progress of a type's unique indexes that are not enforced yet (docs/spec/consistency.md, 1). */
export type UniqueStep = {
  readonly type: ResourceType;
  readonly indexes: readonly string[];
  /** `pending`: waits until nodes are drained. `claiming`: claims the values of stored objects. */
  readonly step: 'pending' | 'claiming';
  /** The recorded duplicates, in the order of names. */
  readonly duplicates: readonly Duplicate[];
  /** The number of all duplicates, also of those that are not in `duplicates`. */
  readonly duplicateCount: number;
};

/** The indexes that are not enforced yet, according to the leader. */
export type UniqueSteps = {
  of(plugin: string): readonly UniqueStep[];
  /** Calls `listener` with the plugin's name when the result of `of` may have changed. `listener` must not throw. */
  subscribe(listener: (plugin: string) => void): () => void;
};
