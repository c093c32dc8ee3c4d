import type { Client } from './client.ts';
import type { PluginLogger } from './logger.ts';
import type { JsonSchema } from './declared-type.ts';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type RouteRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Decoded JSON; undefined without a body. */
  readonly body: unknown;
  /** Who calls; `system:anonymous` is a visitor. No user can be called so. */
  readonly user: { readonly name: string };
  /** When the call was made: RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly client: Client;
  readonly pluginClient: Client;
  /** Aborts when the caller goes away or the time limit passes. */
  readonly signal: AbortSignal;
  readonly log: PluginLogger;
};

export type RouteResponse = {
  /** Default 200, 204 without a body. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a string or bytes and `headers` names another content type. */
  readonly body?: unknown;
  /**
   * Instead of a body: server-sent events, one by one as they come, until the iteration ends, the caller goes away or loses
   * the right, or the plugin stops. The next one is asked for once the last one is on its way.
   */
  readonly events?: AsyncIterable<ServerSentEvent>;
};

/** One event of `text/event-stream` (WHATWG HTML, 9.2): `data` is sent as JSON unless it is a string. */
export type ServerSentEvent = { readonly data: unknown; readonly event?: string; readonly id?: string };

export type RouteHandler = (request: RouteRequest) => RouteResponse | undefined | Promise<RouteResponse | undefined>;

/** `path` is absolute in a functional route, `/apis/<group>/<version>/…`; `{name}` is a parameter. */
export type RouteDeclaration = {
  readonly method: RouteMethod;
  readonly path: string;
  readonly handler: RouteHandler;
  readonly summary?: string;
  /** What is asked: what does not fit is refused with 400 (parameters) or 422 (the body) before the handler runs. */
  readonly request?: {
    /** JSON Schemas of single query parameters, whose values are text; one that is not named here is passed on unchecked. */
    readonly query?: Readonly<Record<string, JsonSchema>>;
    readonly body?: JsonSchema;
  };
  /** What is answered, by status: an answer that does not fit its schema is a bug of the plugin's (500, and the log says where). */
  readonly responses?: Readonly<Record<number, { readonly description?: string; readonly schema?: JsonSchema }>>;
};

/** One WebSocket, once it is open. */
export type PluginSocket = {
  /** Text as it is, bytes as a binary message, anything else as JSON. False: too much waits to be sent, and this was not taken. */
  readonly send: (message: unknown) => boolean;
  /** Resolves once everything sent is on its way, or the socket is closed. */
  readonly drained: () => Promise<void>;
  /** Messages as they come: text as a string. Ends when the socket closes. */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** A code of 1000 or 3000–4999 (RFC 6455, 7.4). */
  readonly close: (code?: number, reason?: string) => void;
};

/** Serves one connection; once it settles the socket is closed (1000; 1011 when it threw). `request.signal` aborts when the socket closes. */
export type SocketHandler = (socket: PluginSocket, request: RouteRequest) => void | Promise<void>;

/** A WebSocket endpoint; authorized as a GET of its path, and again whenever roles change (then closed with 4403). */
export type SocketDeclaration = { readonly path: string; readonly handler: SocketHandler; readonly summary?: string };

/** Routes under `/apis/<apiVersion>/<path>`; without an apiVersion it is never served, and the Plugin's condition `ControllersIgnored` names it. */
export type ControllerDeclaration = {
  readonly apiVersion?: string;
  readonly path: string;
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
};
