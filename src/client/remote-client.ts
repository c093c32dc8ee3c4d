import type {
  ClientList,
  ClientListQuery,
  ClientPreconditions,
  NewObject,
  ObjectPatch,
  PluginObject,
  ReplacedObject,
  StatusPatch,
  TypeName,
  Typed,
} from '../plugin/api/plugin.ts';
import type { ListPage } from './decode-answer.ts';
import type { Informer, InformerOptions } from './informer.ts';
import type { PagesQuery } from './pages.ts';
import type { Query } from './requests.ts';
import type { ChangeEvent, WatchEvent, WatchOptions } from './watch.ts';

export type CallOptions = { readonly signal?: AbortSignal | undefined };
export type WriteOptions = ClientPreconditions & CallOptions;
/** Reads past state: `at` is a position of the log (a `resourceVersion`) or a time (RFC 3339). */
type AtMoment = { readonly at?: string | undefined };
/** With `at`, the call returns the past state of the object, even if the object has been deleted since. */
export type GetOptions = CallOptions & AtMoment;
/** With `at`, the call returns the past state of the objects. */
export type RemoteListQuery = ClientListQuery & CallOptions & AtMoment;

/** A request to any path of the server. */
export type RequestOptions = CallOptions & {
  /** GET by default. */
  readonly method?: string;
  /** The query parameters; a list becomes repeated parameters. */
  readonly query?: Query;
  /** The body. A `FormData`, for example with a file, is sent as `multipart/form-data`, and any other value as JSON. */
  readonly body?: unknown;
  /** The media type of the response; `application/json` by default. For `request` it must be a form of JSON. */
  readonly accept?: string | undefined;
  /**
   * The media type of a body of JSON; by default a merge patch for the method PATCH, otherwise `application/json`.
   */
  readonly contentType?: string | undefined;
  /**
   * The entity tag that the object must have, such as `"3"`. If the object has another one, the server refuses the
   * request (412).
   */
  readonly ifMatch?: string | undefined;
};

/**
 * A `Client` over HTTP. A call that the server refuses for a short time (429, or 503 with a Retry-After) is sent again
 * if a second effect is impossible. After a `ConnectionError` the outcome of a write is unknown. Watches and informers
 * retry on their own.
 */
export type RemoteClient = {
  /**
   * Resolves with undefined if no object has this name or, with `at`, if no object had this name at that time. Rejects
   * if the type does not exist.
   */
  get<T = PluginObject>(type: TypeName & Typed<T>, name: string, options?: GetOptions): Promise<T | undefined>;
  list<T = PluginObject>(type: TypeName & Typed<T>, query?: RemoteListQuery): Promise<ClientList<T>>;
  create<T = PluginObject, Written = unknown>(
    type: TypeName & Typed<T, string, Written>,
    object: NewObject<NoInfer<T>, NoInfer<Written>>,
    options?: CallOptions,
  ): Promise<T>;
  update<T = PluginObject, Written = unknown>(
    type: TypeName & Typed<T, string, Written>,
    object: ReplacedObject<NoInfer<T>, NoInfer<Written>>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Applies a merge patch (RFC 7396). */
  patch<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: ObjectPatch<NoInfer<T>>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Applies a merge patch of the form `{status}`. The type must have `statusSubresource`. */
  patchStatus<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: StatusPatch<NoInfer<T>>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Deletes an object, and returns its last state, which is marked for deletion. */
  delete<T = PluginObject>(type: TypeName & Typed<T>, name: string, options?: WriteOptions): Promise<T>;
  /**
   * Sends a request to a path that the other calls do not cover, for example that of a plugin's route. Resolves with
   * the decoded JSON, which is not checked against `T`. Resolves with undefined if the response has no body.
   */
  request<T = unknown>(path: string, options?: RequestOptions): Promise<T | undefined>;
  /**
   * Reads a path whose responses have an entity tag. Resolves with the decoded JSON and the tag; with undefined if
   * `known`, the tag of an earlier response, is still the current one.
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the type
  requestChanged<T = unknown>(
    path: string,
    options: CallOptions & { readonly query?: Query; readonly known?: string | undefined },
  ): Promise<{ readonly value: T; readonly tag: string | undefined } | undefined>;
  /** Sends a request like `request`, and resolves with the text of the response, which may have any format. */
  requestText(path: string, options?: RequestOptions): Promise<string>;
  /** Yields all objects, read page by page. An object that exists during the whole call is yielded exactly once. */
  items<T = PluginObject>(type: TypeName & Typed<T>, query?: PagesQuery): AsyncGenerator<T, void, undefined>;
  /** Yields the list page by page. */
  pages<T = PluginObject>(type: TypeName & Typed<T>, query?: PagesQuery): AsyncGenerator<ListPage<T>, void, undefined>;
  /**
   * Yields the changes, none of them twice. Ends when the signal aborts, when the caller leaves the loop, or when the
   * server refuses the watch for a reason that is not transient.
   */
  watch<T = PluginObject>(
    type: TypeName & Typed<T>,
    options?: WatchOptions<T> & { readonly bookmarks?: false | undefined },
  ): AsyncGenerator<ChangeEvent<T>, void, undefined>;
  watch<T = PluginObject>(
    type: TypeName & Typed<T>,
    options?: WatchOptions<T>,
  ): AsyncGenerator<WatchEvent<T>, void, undefined>;
  /** Starts an informer: a cache of the objects that follows the server until its `stop` is called. */
  informer<T = PluginObject>(type: TypeName & Typed<T>, options?: InformerOptions<T>): Informer<T>;
};

/** The part of a client that sends one request for each call. */
export type RemoteCalls = Omit<RemoteClient, 'items' | 'pages' | 'watch' | 'informer'>;
