import type { Violation } from '../../resource/type/resource-type.ts';
import type { JsonSchema, RouteHandler, RouteMethod, SocketHandler } from './plugin.ts';

/** A declared schema and what it says of a value: every broken rule. The compiled check never throws. */
export type ValueSchema = { readonly schema: JsonSchema; readonly violations: (value: unknown) => readonly Violation[] };

/** A route as decoded: its path is absolute, its schemas are compiled. */
export type RouteEndpoint = {
  readonly method: RouteMethod;
  readonly path: string;
  readonly handler: RouteHandler;
  readonly summary?: string;
  /** By query parameter, what a value of it must be. */
  readonly query?: ReadonlyMap<string, ValueSchema>;
  readonly body?: ValueSchema;
  readonly responses?: ReadonlyMap<number, ResponseEndpoint>;
};
export type ResponseEndpoint = { readonly description?: string; readonly schema?: ValueSchema };

/** A WebSocket endpoint as decoded; its path is absolute. */
export type SocketEndpoint = { readonly path: string; readonly handler: SocketHandler; readonly summary?: string };

/** Everything a plugin serves beside its types. */
export type Endpoints = { readonly routes: readonly RouteEndpoint[]; readonly sockets: readonly SocketEndpoint[] };

/** Where custom APIs are served. A path that cannot be served throws and changes nothing. */
export type RouteMounts = {
  /** Its paths answer 503 until they are mounted. */
  announce(plugin: string, endpoints: Endpoints): void;
  mount(plugin: string, endpoints: Endpoints): void;
  /** Its paths answer 404 from now on, and what it streams ends; calls in progress end by themselves. */
  unmount(plugin: string): void;
};
