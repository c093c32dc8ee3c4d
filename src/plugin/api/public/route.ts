import type { Client } from './client.ts';
import type { PluginLogger } from './logger.ts';
import type { JsonSchema } from './json-schema.ts';
import type { FromSchema } from './schema.ts';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type RouteRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The decoded JSON body; undefined if the request has no body. */
  readonly body: unknown;
  /** The caller. A visitor has the name `system:anonymous`, which no user can have. */
  readonly user: { readonly name: string };
  /** The time of the call: RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly client: Client;
  readonly pluginClient: Client;
  /** Aborts when the caller disconnects. For a route, also aborts when the time limit passes. */
  readonly signal: AbortSignal;
  readonly log: PluginLogger;
};

export type RouteResponse = {
  /** The HTTP status. The default is 204 for a response without a body and events, and 200 for other responses. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. A string or bytes are sent unchanged if `headers` has a content type. Other bodies are sent as JSON. */
  readonly body?: unknown;
  /**
   * Server-sent events, which are sent instead of a body. The stream ends when the iteration ends, the caller
   * disconnects, the caller loses the right to the route, or the plugin stops. The next event is requested from the
   * iterator after the previous event is written.
   */
  readonly events?: AsyncIterable<ServerSentEvent>;
};

/** One event of a `text/event-stream` (WHATWG HTML, 9.2). `data` is sent as JSON unless `data` is a string. */
export type ServerSentEvent = {
  readonly data: unknown;
  readonly event?: string;
  readonly id?: string;
};

export type RouteHandler = (request: RouteRequest) => RouteResponse | undefined | Promise<RouteResponse | undefined>;

/**
 * A route. In a controller, `path` is relative to the path of the controller. In `PluginDefinition.routes`, `path` is
 * absolute: `/apis/<group>/<version>/…`. A segment `{name}` is a parameter.
 */
export type RouteDeclaration = {
  readonly method: RouteMethod;
  readonly path: string;
  readonly handler: RouteHandler;
  readonly summary?: string;
  /**
   * The schemas of the request. Before the handler runs, invalid parameters are refused with 400, and an invalid body
   * is refused with 422.
   */
  readonly request?: {
    /**
     * The JSON Schemas of query parameters, by name. A schema with the type `array` checks the values as an array of
     * strings. Any other schema requires a single value, and checks the value as a string. Parameters without a schema
     * are not checked.
     */
    readonly query?: Readonly<Record<string, JsonSchema>>;
    readonly body?: JsonSchema;
  };
  /**
   * The response schemas by status. A response that does not match its schema is a bug of the plugin. The caller then
   * receives a 500, and the server logs the details.
   */
  readonly responses?: Readonly<Record<number, { readonly description?: string; readonly schema?: JsonSchema }>>;
};

/** The names of the parameters in a path: `'shop' | 'item'` for `/{shop}/items/{item}`. */
type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

export type TypedRequest<Path extends string, Query, Body> = Omit<RouteRequest, 'params' | 'query' | 'body'> & {
  readonly params: string extends Path ? RouteRequest['params'] : { readonly [Name in ParameterOf<Path>]: string };
  readonly query: string extends keyof Query
    ? RouteRequest['query']
    : { readonly [Name in keyof Query]?: FromSchema<Query[Name]> };
  readonly body: FromSchema<Body>;
};

export type TypedRoute<Path extends string, Query, Body> = Omit<RouteDeclaration, 'path' | 'handler' | 'request'> & {
  readonly path: Path;
  readonly request?: { readonly query?: Query; readonly body?: Body };
  readonly handler: (
    request: TypedRequest<Path, Query, Body>,
  ) => RouteResponse | undefined | Promise<RouteResponse | undefined>;
};

export type PluginSocket = {
  /**
   * Sends a string as a text message, bytes as a binary message, and any other value as JSON. Returns false for an
   * unsent message, because the buffer is full or the socket is closed.
   */
  readonly send: (message: unknown) => boolean;
  /** Resolves when the buffer is written or the socket is closed. */
  readonly drained: () => Promise<void>;
  /** The incoming messages; a text message is a string. The iteration ends when the socket closes. */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** Closes the socket. `code` must be 1000 or 3000–4999 (RFC 6455, 7.4). */
  readonly close: (code?: number, reason?: string) => void;
};

/**
 * Serves one connection. The socket is closed with code 1000 when the handler returns, and with code 1011 when the
 * handler fails. `request.signal` aborts when the socket closes.
 */
export type SocketHandler = (socket: PluginSocket, request: RouteRequest) => void | Promise<void>;

/**
 * A WebSocket endpoint. A connection is authorized like a GET of the path, and again when rights may have changed. A
 * connection without the right is closed with code 4403.
 */
export type SocketDeclaration = {
  readonly path: string;
  readonly handler: SocketHandler;
  readonly summary?: string;
};

/**
 * Routes and sockets under `/apis/<apiVersion>/<path>`. A controller without an apiVersion is not served. The condition
 * `ControllersIgnored` of the Plugin object lists ignored controllers.
 */
export type ControllerDeclaration = {
  readonly apiVersion?: string;
  readonly path: string;
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
};
