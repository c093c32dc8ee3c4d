import type { ReconcileOutcome, ReconcileRequest, PluginObject } from './plugin.ts';

export type ReconciledType = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
};

/** A decoded reconciler. The results of its functions are validated at each call. */
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

/** A problem of a reconciler, with a message for the conditions of the plugin. */
export type ReconcilerTrouble = {
  readonly type: 'ReconcilerStuck' | 'ReconcilerFailing' | 'ReconcilerSpinning';
  readonly reconciler: string;
  readonly message: string;
};

/** Runs the reconcilers of plugins on the leader. */
export type ReconcilerMounts = {
  /**
   * Starts the reconcilers and reconciles every object. The plugin's types must already be served. A second call for a
   * plugin replaces the reconcilers of the first call.
   */
  mount(plugin: string, reconcilers: readonly MountedReconciler[]): void;
  /** Stops the reconcilers: no further step starts. Resolves when the running steps have ended or are abandoned. */
  unmount(plugin: string): Promise<void>;
  /** Returns problems of reconcilers: steps that do not end, and names that fail repeatedly or spin. */
  health(plugin: string): readonly ReconcilerTrouble[];
  /** Calls the listener when the result of `health` may have changed. */
  subscribe(listener: (plugin: string) => void): () => void;
};
