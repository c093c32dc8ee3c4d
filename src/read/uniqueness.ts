import type { ResourceType } from '../resource/type/resource-type.ts';

/** An object with a value that another has claimed. */
export type Duplicate = { readonly name: string; readonly index: string; readonly holder: string };

/** How far unique indexes of a type are that are not enforced (consistency protocol, 1). */
export type UniqueStep = {
  readonly type: ResourceType;
  readonly indexes: readonly string[];
  /** `pending`: nodes are waited for; `claiming`: stored objects are claimed for. */
  readonly step: 'pending' | 'claiming';
  /** Those that are remembered, in the order of names, and how many there are. */
  readonly duplicates: readonly Duplicate[];
  readonly duplicateCount: number;
};

/** Indexes that are not enforced yet, as the node that leads knows them. */
export type UniqueSteps = {
  of(plugin: string): readonly UniqueStep[];
  /** Calls `listener` with the plugin's name when what `of` answers may have changed. It must not throw. */
  subscribe(listener: (plugin: string) => void): () => void;
};
