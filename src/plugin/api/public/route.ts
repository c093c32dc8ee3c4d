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
  /** The caller; `system:anonymous` for a visitor. No user can have this name. */
  readonly user: { readonly name: string };
  /** The time of the call: RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly client: Client;
  readonly pluginClient: Client;
  /** Aborts when the caller disconnects or the time limit passes. */
  readonly signal: AbortSignal;
  readonly log: PluginLogger;
};

export type RouteResponse = {
  /** 200 by default, 204 without a body. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a string or bytes and `headers` names another content type. */
  readonly body?: unknown;
  /**
   * In place of a body: server-sent events, until the iteration ends, the caller disconnects or loses the right, or the
   * plugin stops. The next event is requested once the last one is written.
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
  /** The request's schemas: a mismatch is refused with 400 (parameters) or 422 (the body) before the handler runs. */
  readonly request?: {
    /** JSON Schemas of query parameters; their values are text. Other parameters are passed on unchecked. */
    readonly query?: Readonly<Record<string, JsonSchema>>;
    readonly body?: JsonSchema;
  };
  /**
   * Response schemas by status. A response that does not match is a bug of the plugin: it becomes a 500, and the log
   * has the details.
   */
  readonly responses?: Readonly<Record<number, { readonly description?: string; readonly schema?: JsonSchema }>>;
};

/** An open WebSocket. */
export type PluginSocket = {
  /**
   * Sends text as it is, bytes as a binary message, anything else as JSON. False: the buffer is full, and the message
   * was not accepted.
   */
  readonly send: (message: unknown) => boolean;
  /** Resolves when the buffer is written, or the socket is closed. */
  readonly drained: () => Promise<void>;
  /** Incoming messages; text arrives as a string. Ends when the socket closes. */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** A code of 1000 or 3000–4999 (RFC 6455, 7.4). */
  readonly close: (code?: number, reason?: string) => void;
};

/**
 * Serves one connection. When the handler returns, the socket is closed (1000; 1011 after an error). `request.signal`
 * aborts when the socket closes.
 */
export type SocketHandler = (socket: PluginSocket, request: RouteRequest) => void | Promise<void>;

/**
 * A WebSocket endpoint. It is authorized as a GET of its path, and again whenever roles change (then closed with 4403).
 */
export type SocketDeclaration = { readonly path: string; readonly handler: SocketHandler; readonly summary?: string };

/**
 * Routes under `/apis/<apiVersion>/<path>`. A controller without an apiVersion is never served, and the Plugin's
 * condition `ControllersIgnored` lists it.
 */
export type ControllerDeclaration = {
  readonly apiVersion?: string;
  readonly path: string;
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
};
