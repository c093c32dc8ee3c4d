import type { PluginLoad } from './load-plugin.ts';
import type { Manifest } from './manifest.ts';

/** A module that runs, and what came of it until a step of its plugin takes that. */
export type Loading = {
  /** Of the files it is loaded from. */
  readonly digest: string;
  readonly bundled: boolean;
  readonly manifest: Manifest;
  readonly done: Promise<PluginLoad>;
  isDone: boolean;
};
