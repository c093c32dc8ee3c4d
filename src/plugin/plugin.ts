/**
 * The one door for plugin code (`ledgerplane/plugin`): the types an author writes against, and the two functions that check
 * them while writing, and the error it may throw. The platform decodes what a plugin exports before it uses it.
 */
export type PluginLogger = {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

/** An extension object as a plugin sees it; `Spec` and `Status` are the author's own types. */
export type PluginObject<Spec = Record<string, unknown>, Status = Record<string, unknown>> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly version: number;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Spec;
  readonly status?: Status;
};

/** How an index value is compared; the default is `string`, by code point. */
export type IndexType = 'string' | 'number' | 'boolean' | 'timestamp';

export type IndexSpec<T = PluginObject> = {
  /** Unique in its type; the field's path is the recommended name (`spec.title`). */
  readonly name: string;
  readonly type?: IndexType;
  readonly order?: 'ASC' | 'DESC';
  readonly unique?: boolean;
  /** The function answers an array of values. */
  readonly multi?: boolean;
  /** The indexed value(s); without it the value at the dotted path `name`. Must be pure: the object is frozen. undefined or null: no value. */
  readonly indexFunc?: (object: T) => IndexValue | readonly IndexValue[] | null | undefined;
};
export type IndexValue = string | number | boolean;

export type TypeDeclaration<T = PluginObject> = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  /** JSON Schema 2020-12 of the object's members beside apiVersion, kind and metadata: usually `spec` and `status`. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly indexes?: readonly IndexSpec<T>[];
  readonly statusSubresource?: boolean;
  readonly printerColumns?: readonly {
    readonly name: string;
    readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
    readonly pointer: string;
    readonly description?: string;
    readonly priority?: number;
  }[];
};

export type ClientList<T = PluginObject> = { readonly items: readonly T[]; readonly total: number; readonly resourceVersion: string };

/** Which objects: the query parameters of a list, by name. */
export type ClientListQuery = {
  /** Several must all hold, as when the parameter is given several times. */
  readonly labelSelector?: string | readonly string[];
  readonly fieldSelector?: string | readonly string[];
  readonly sort?: string | readonly string[];
  readonly page?: number;
  readonly size?: number;
};

/** Names a type in a client's calls. */
export type TypeName = { readonly group: string; readonly version: string; readonly plural: string };

/**
 * The generated API in-process. Every call is authorized as the caller (`client`) or as the plugin itself (`pluginClient`)
 * and rejects with a `ClientError` where HTTP would answer an error.
 */
export type Client = {
  get<T = PluginObject>(type: TypeName, name: string): Promise<T | undefined>;
  list<T = PluginObject>(type: TypeName, query?: ClientListQuery): Promise<ClientList<T>>;
  create<T = PluginObject>(type: TypeName, object: object): Promise<T>;
  update<T = PluginObject>(type: TypeName, object: object, preconditions?: ClientPreconditions): Promise<T>;
  /** A merge patch (RFC 7396). */
  patch<T = PluginObject>(type: TypeName, name: string, patch: object, preconditions?: ClientPreconditions): Promise<T>;
  /** The object, marked for deletion. */
  delete<T = PluginObject>(type: TypeName, name: string, preconditions?: ClientPreconditions): Promise<T>;
};

/** The object must still be this one, or the call is refused with `Conflict`; beside what the body's own metadata asks. */
export type ClientPreconditions = { readonly uid?: string; readonly resourceVersion?: string };

export type ClientErrorMembers = {
  /** The fixed word of the error table, and its HTTP status. */
  readonly reason: string;
  readonly status: number;
  /** What is wrong with which value; plain JSON pointers. */
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryAfterSeconds?: number;
};

/**
 * What a `Client` call rejects with. A route's handler may let it pass or throw one of its own: it is answered as the
 * generated API would answer the same refusal.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly reason: string;
  readonly status: number;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { reason, status, errors = [], retryAfterSeconds }: ClientErrorMembers) {
    super(message);
    this.reason = reason;
    this.status = status;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

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

/** JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One WebSocket, once it is open. */
export type PluginSocket = {
  /** Text as it is, bytes as a binary message, anything else as JSON. False: too much waits to be sent, and this was not taken. */
  send(message: unknown): boolean;
  /** Messages as they come: text as a string. Ends when the socket closes. */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** A code of 1000 or 3000–4999 (RFC 6455, 7.4). */
  close(code?: number, reason?: string): void;
};

/** Serves one connection; once it settles the socket is closed (1000; 1011 when it threw). `request.signal` aborts when the socket closes. */
export type SocketHandler = (socket: PluginSocket, request: RouteRequest) => void | Promise<void>;

/** A WebSocket endpoint; authorized as a GET of its path, and again whenever roles change (then closed with 4403). */
export type SocketDeclaration = { readonly path: string; readonly handler: SocketHandler; readonly summary?: string };

/** Routes under `/apis/<apiVersion>/<path>`; without an apiVersion it is ignored, with a warning (decision 9.5). */
export type ControllerDeclaration = {
  readonly apiVersion?: string;
  readonly path: string;
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
};

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
  readonly watches?: readonly { readonly type: TypeName; readonly names: (object: PluginObject) => readonly string[] }[];
  /** Names looked at at once; 1 without, 16 at most. */
  readonly concurrency?: number;
};

export type PluginDefinition = {
  readonly types?: readonly TypeDeclaration<never>[];
  readonly controllers?: readonly ControllerDeclaration[];
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
  readonly reconcilers?: readonly ReconcilerDeclaration<never>[];
  /**
   * Called when the plugin stops, after its routes, sockets, types and reconcilers are gone: the place to end timers and
   * listeners. What it throws is told and changes nothing; it has as long as a start.
   */
  readonly stop?: () => void | Promise<void>;
};

/** What a plugin's module may depend on when it says what it is. */
export type PluginContext = {
  /** The plugin's name: `metadata.name` of its plugin.yaml. */
  readonly name: string;
  /** The platform's domain: what `${domain}` stands for in the plugin's YAML files. */
  readonly domain: string;
  readonly log: PluginLogger;
};

export type DefinePlugin = (context: PluginContext) => PluginDefinition | Promise<PluginDefinition>;

/** The default export of a plugin's module: what it is, or a function that answers it once the context is known. */
export function definePlugin(definition: PluginDefinition): PluginDefinition;
export function definePlugin(define: DefinePlugin): DefinePlugin;
export function definePlugin(plugin: PluginDefinition | DefinePlugin): PluginDefinition | DefinePlugin {
  return plugin;
}

/** A reconciler that sees its own object type. */
export function defineReconciler<T = PluginObject>(declaration: ReconcilerDeclaration<T>): ReconcilerDeclaration<never> {
  return declaration;
}

/** A type whose index functions see its own object type. */
export function defineType<T = PluginObject>(declaration: TypeDeclaration<T>): TypeDeclaration<never> {
  return declaration;
}
