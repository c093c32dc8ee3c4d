import type { Client } from './client.ts';
import type { PluginLogger } from './logger.ts';
import type { PluginObject, TypeName } from './object.ts';

/** The result of one step. Returning nothing means `settled`; a step that throws is retried with growing delays. */
export type ReconcileOutcome =
  /** The actual state matches the object, or the step waits for a change that will trigger it. */
  | { readonly type: 'settled' }
  /** Runs the step again after this time, in milliseconds, without a change. */
  | { readonly type: 'again'; readonly afterMs: number };

export type ReconcileRequest<T = PluginObject> = {
  readonly name: string;
  /** The object as the read models have it now; undefined when it is deleted. */
  readonly object: T | undefined;
  /** Acts with the plugin's own rights. */
  readonly pluginClient: Client;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  /** Aborts when the plugin stops, this node loses leadership, or the time limit passes. */
  readonly signal: AbortSignal;
  readonly log: PluginLogger;
};

/**
 * A method rather than a function-valued member, so that an implementation may narrow the parameter to objects of
 * `type`.
 */
export type WatchDeclaration = { readonly type: TypeName; names(object: PluginObject): readonly string[] };

/**
 * Level-triggered: a step receives a name, reads the current state and takes one step towards the desired state. It may
 * run twice at any time, also on another node. Only the leader runs steps, one at a time for each name; at start every
 * name is reconciled.
 */
export type ReconcilerDeclaration<T = PluginObject> = {
  /** One of this plugin's types. */
  readonly type: TypeName;
  readonly reconcile: (
    request: ReconcileRequest<T>,
  ) => ReconcileOutcome | undefined | Promise<ReconcileOutcome | undefined>;
  /** Unique in the plugin; `<plural>.<group>` by default. */
  readonly name?: string;
  /**
   * Other types of this plugin that affect objects of `type`. `names` maps an object, before and after its change, to
   * the affected names.
   */
  readonly watches?: readonly WatchDeclaration[];
  /** Names reconciled concurrently; 1 by default, at most 16. */
  readonly concurrency?: number;
};
