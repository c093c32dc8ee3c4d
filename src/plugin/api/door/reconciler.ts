import type { Client } from './client.ts';
import type { PluginLogger } from './logger.ts';
import type { PluginObject, TypeName } from './object.ts';

/** What one step came to. Nothing returned is `settled`; a throw is tried again, each time later. */
export type ReconcileOutcome =
  /** The world is as the object wants it, or waits for a change that will come as one. */
  | { readonly type: 'settled' }
  /** To be looked at again without a change, in milliseconds. */
  | { readonly type: 'again'; readonly afterMs: number };

export type ReconcileRequest<T = PluginObject> = {
  readonly name: string;
  /** As the read models have it now; undefined when it is gone. */
  readonly object: T | undefined;
  /** The plugin's own rights. */
  readonly pluginClient: Client;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  /** Aborts when the plugin stops, this node leads no more, or the time limit passes. */
  readonly signal: AbortSignal;
  readonly log: PluginLogger;
};

/** A method, not a function's member, so that `names` may say which objects it takes: those of `type`. */
export type WatchDeclaration = { readonly type: TypeName; names(object: PluginObject): readonly string[] };

/**
 * Level-triggered: it gets a name, looks at the world, takes one step toward what the object wants, and may run twice at any
 * time, on another node too. One node runs it; a name is looked at by one step at a time; at start every name is looked at.
 */
export type ReconcilerDeclaration<T = PluginObject> = {
  /** A type of this plugin's. */
  readonly type: TypeName;
  readonly reconcile: (request: ReconcileRequest<T>) => ReconcileOutcome | undefined | Promise<ReconcileOutcome | undefined>;
  /** Unique in the plugin; `<plural>.<group>` without. */
  readonly name?: string;
  /** Other types of this plugin's whose changes concern objects of `type`: which, by name, before and after the change. */
  readonly watches?: readonly WatchDeclaration[];
  /** Names looked at at once; 1 without, 16 at most. */
  readonly concurrency?: number;
};
