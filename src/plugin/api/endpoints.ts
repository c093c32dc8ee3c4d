import type { Violation } from '../../resource/type/resource-type.ts';
import type { JsonSchema, RouteHandler, RouteMethod, SocketHandler } from './plugin.ts';

/** A declared schema and its check, which returns all violations. The compiled check never throws. */
export type ValueSchema = {
  readonly schema: JsonSchema;
  readonly violations: (value: unknown) => readonly Violation[];
};

/** A decoded route: its path is absolute, its schemas are compiled. */
export type RouteEndpoint = {
  readonly method: RouteMethod;
  readonly path: string;
  readonly handler: RouteHandler;
  readonly summary?: string;
  /** Schemas of values, by query parameter. */
  readonly query?: ReadonlyMap<string, ValueSchema>;
  readonly body?: ValueSchema;
  readonly responses?: ReadonlyMap<number, ResponseEndpoint>;
};
export type ResponseEndpoint = { readonly description?: string; readonly schema?: ValueSchema };

/** A decoded WebSocket endpoint; its path is absolute. */
export type SocketEndpoint = { readonly path: string; readonly handler: SocketHandler; readonly summary?: string };

/** Everything that a plugin serves beside its types. */
export type Endpoints = { readonly routes: readonly RouteEndpoint[]; readonly sockets: readonly SocketEndpoint[] };

/** The registry of custom APIs. A call with a path that cannot be served throws and changes nothing. */
export type RouteMounts = {
  /** Announces paths, which return 503 until they are mounted. */
  announce(plugin: string, endpoints: Endpoints): void;
  mount(plugin: string, endpoints: Endpoints): void;
  /**
   * Removes the plugin's endpoints: the paths return 404 from now on, and their streams end. Calls in progress
   * complete.
   */
  unmount(plugin: string): void;
};
