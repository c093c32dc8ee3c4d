import type { ReconcileOutcome, ReconcileRequest, PluginObject } from './plugin.ts';

/** A type of the plugin, as registered. */
export type ReconciledType = { readonly group: string; readonly version: string; readonly plural: string };

/** A decoded reconciler; the results of its functions are validated at each call. */
export type MountedReconciler = {
  /** Unique in its plugin. */
  readonly name: string;
  readonly type: ReconciledType;
  readonly concurrency: number;
  readonly reconcile: (
    request: ReconcileRequest,
  ) => ReconcileOutcome | undefined | Promise<ReconcileOutcome | undefined>;
  readonly watches: readonly {
    readonly type: ReconciledType;
    readonly names: (object: PluginObject) => readonly string[];
  }[];
};

/** A problem of a plugin's reconcilers, with a message for its conditions. */
export type ReconcilerTrouble = {
  readonly type: 'ReconcilerStuck' | 'ReconcilerFailing';
  readonly reconciler: string;
  readonly message: string;
};

/** Runs plugins' reconcilers, on the leader. */
export type ReconcilerMounts = {
  /**
   * Runs the reconcilers. Call it once the plugin's types are served. Every object is reconciled; a second mount
   * replaces the first.
   */
  mount(plugin: string, reconcilers: readonly MountedReconciler[]): void;
  /** Starts no further step. Resolves when the running steps have ended or are abandoned. */
  unmount(plugin: string): Promise<void>;
  /** Steps that do not end, and names that keep failing; empty if there are none. */
  health(plugin: string): readonly ReconcilerTrouble[];
  /** Notifies when the result of `health` may have changed. */
  subscribe(listener: (plugin: string) => void): () => void;
};
