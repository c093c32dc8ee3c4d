import type { ReconcileOutcome, ReconcileRequest, PluginObject } from './plugin.ts';

/** A type of the plugin's own, as the registry knows it. */
export type ReconciledType = { readonly group: string; readonly version: string; readonly plural: string };

/** A plugin's reconciler, decoded: what its functions answer is anybody's guess until it is looked at. */
export type MountedReconciler = {
  /** Unique in its plugin. */
  readonly name: string;
  readonly type: ReconciledType;
  readonly concurrency: number;
  readonly reconcile: (request: ReconcileRequest) => ReconcileOutcome | undefined | Promise<ReconcileOutcome | undefined>;
  readonly watches: readonly { readonly type: ReconciledType; readonly names: (object: PluginObject) => readonly string[] }[];
};

/** What is wrong with a plugin's reconcilers, in words for its conditions. */
export type ReconcilerTrouble = {
  readonly type: 'ReconcilerStuck' | 'ReconcilerFailing';
  readonly reconciler: string;
  readonly message: string;
};

/** Where plugins' reconcilers run: on the node that leads. */
export type ReconcilerMounts = {
  /** Once the plugin's types are served. Every object is looked at; mounted again it replaces what was mounted. */
  mount(plugin: string, reconcilers: readonly MountedReconciler[]): void;
  /** No step begins after this. Resolves when those that ran have ended, or have been given up. */
  unmount(plugin: string): Promise<void>;
  /** Steps that do not end, and names that fail again and again; empty when all is well. */
  health(plugin: string): readonly ReconcilerTrouble[];
  /** Tells when what `health` answers may have changed. */
  subscribe(listener: (plugin: string) => void): () => void;
};
