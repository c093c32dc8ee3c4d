import type { Client } from './client.ts';
import type { PluginLogger } from './logger.ts';
import type { PluginObject, Typed, TypeName } from './object.ts';

/** The result of one step; undefined means `settled`. A step that throws is retried with increasing delays. */
export type ReconcileOutcome =
  /** The actual state matches the object, or a later change will trigger another step. */
  | { readonly type: 'settled' }
  /** Runs the step again after `afterMs` milliseconds, even if nothing changes. */
  | { readonly type: 'again'; readonly afterMs: number };

export type ReconcileRequest<T = PluginObject> = {
  readonly name: string;
  /** The object in the read models at the start of the step; undefined if the object is deleted. */
  readonly object: T | undefined;
  /** A client with the rights of the plugin. */
  readonly pluginClient: Client;
  /** The time of the step: RFC 3339, UTC, milliseconds. */
  readonly time: string;
  /** Aborts when the plugin stops, when this node loses leadership, or when the time limit of the step passes. */
  readonly signal: AbortSignal;
  readonly log: PluginLogger;
};

/**
 * Another type of the plugin. Changes of objects of this type trigger steps. `names` is declared as a method, so that
 * the parameter of an implementation can have the type of the watched objects.
 */
export type WatchDeclaration<T = PluginObject> = {
  readonly type: TypeName & Typed<T>;
  names(object: unknown extends T ? PluginObject : T): readonly string[];
};

/**
 * A level-triggered reconciler. A step receives a name, reads the current state and makes one change towards the
 * desired state. Steps must be idempotent, because a step may be repeated at any time, also on another node. Only the
 * leader runs steps, one at a time for each name. When the reconciler starts, every name is reconciled.
 */
export type ReconcilerDeclaration<T = PluginObject> = {
  /** One of this plugin's types. */
  readonly type: TypeName;
  readonly reconcile: (
    request: ReconcileRequest<T>,
  ) => ReconcileOutcome | undefined | Promise<ReconcileOutcome | undefined>;
  /** The reconciler's name, unique in the plugin; `<plural>.<group>` by default. */
  readonly name?: string;
  /**
   * Other types of this plugin that affect objects of `type`. When an object of another type changes, `names` is called
   * for its old state and for its new state. `names` returns the names of the affected objects of `type`.
   */
  readonly watches?: readonly WatchDeclaration[];
  /** The maximum number of names that are reconciled concurrently; 1 by default, at most 16. */
  readonly concurrency?: number;
};
