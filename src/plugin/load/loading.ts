import type { PluginLoad } from './load-plugin.ts';
import type { Manifest } from './manifest.ts';

/** A module load and its result, until a reconcile step takes the result. */
export type Loading = {
  /** The digest of the loaded files. */
  readonly digest: string;
  readonly bundled: boolean;
  readonly manifest: Manifest;
  readonly done: Promise<PluginLoad>;
  isDone: boolean;
};
