import type { Violation } from '../../resource/type/resource-type.ts';
import type { JsonSchema, RouteHandler, RouteMethod, SocketHandler } from './plugin.ts';

/** A declared schema and its compiled check. The check returns the violations of a value and never throws. */
export type ValueSchema = {
  readonly schema: JsonSchema;
  readonly violations: (value: unknown) => readonly Violation[];
};

/** A decoded route, with an absolute path and compiled schemas. */
export type RouteEndpoint = {
  readonly method: RouteMethod;
  readonly path: string;
  readonly handler: RouteHandler;
  readonly summary?: string;
  /** The schemas of the query parameters, by parameter name. */
  readonly query?: ReadonlyMap<string, ValueSchema>;
  readonly body?: ValueSchema;
  readonly responses?: ReadonlyMap<number, ResponseEndpoint>;
};
export type ResponseEndpoint = {
  readonly description?: string;
  readonly schema?: ValueSchema;
};

/** A decoded WebSocket endpoint with an absolute path. */
export type SocketEndpoint = {
  readonly path: string;
  readonly handler: SocketHandler;
  readonly summary?: string;
};

export type Endpoints = {
  readonly routes: readonly RouteEndpoint[];
  readonly sockets: readonly SocketEndpoint[];
};

/**
 * The registry of plugins' routes and WebSocket endpoints. `announce` and `mount` throw if a path cannot be served. A
 * call that throws changes nothing.
 */
export type RouteMounts = {
  /** Announces the paths of a plugin. An announced path returns 503 until `mount` mounts the path. */
  announce(plugin: string, endpoints: Endpoints): void;
  mount(plugin: string, endpoints: Endpoints): void;
  /**
   * Removes the plugin's endpoints and ends their open streams. The paths then return 404. Calls in progress complete.
   */
  unmount(plugin: string): void;
};
