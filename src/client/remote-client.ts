import type {
  ClientList,
  ClientListQuery,
  ClientPreconditions,
  PluginObject,
  TypeName,
  Typed,
} from '../plugin/api/plugin.ts';
import type { ListPage } from './decode-answer.ts';
import type { Informer, InformerOptions } from './informer.ts';
import type { PagesQuery } from './pages.ts';
import type { ChangeEvent, WatchEvent, WatchOptions } from './watch.ts';

/** Options of a single call. */
export type CallOptions = { readonly signal?: AbortSignal | undefined };
export type WriteOptions = ClientPreconditions & CallOptions;
/** Asks for the past: a position of the log (a `resourceVersion`) or a time (RFC 3339). */
type AtMoment = { readonly at?: string | undefined };
/** `at`: the object as it was at that moment, also one that has been deleted since. */
export type GetOptions = CallOptions & AtMoment;
/** `at`: the objects as they were at that moment. */
export type RemoteListQuery = ClientListQuery & CallOptions & AtMoment;

/**
 * A `Client` over HTTP. Each call sends one request. After a `ConnectionError` it is unknown whether a write took
 * place, and the caller handles `retryAfterSeconds` of a `ClientError`. Watches and informers retry by themselves.
 */
export type RemoteClient = {
  /** Undefined if no object has this name, or had it at that moment; rejects if the type does not exist. */
  get<T = PluginObject>(type: TypeName & Typed<T>, name: string, options?: GetOptions): Promise<T | undefined>;
  list<T = PluginObject>(type: TypeName & Typed<T>, query?: RemoteListQuery): Promise<ClientList<T>>;
  create<T = PluginObject>(type: TypeName & Typed<T>, object: object, options?: CallOptions): Promise<T>;
  update<T = PluginObject>(type: TypeName & Typed<T>, object: object, options?: WriteOptions): Promise<T>;
  /** A merge patch (RFC 7396). */
  patch<T = PluginObject>(type: TypeName & Typed<T>, name: string, patch: object, options?: WriteOptions): Promise<T>;
  /** A merge patch of `{status}` only, for a type with `statusSubresource`. */
  patchStatus<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** Returns the last state, marked for deletion. */
  delete<T = PluginObject>(type: TypeName & Typed<T>, name: string, options?: WriteOptions): Promise<T>;
  /** All objects, read by pages: an object that exists during the whole call is yielded exactly once. */
  items<T = PluginObject>(type: TypeName & Typed<T>, query?: PagesQuery): AsyncGenerator<T, void, undefined>;
  /** The pages of the same list. */
  pages<T = PluginObject>(type: TypeName & Typed<T>, query?: PagesQuery): AsyncGenerator<ListPage<T>, void, undefined>;
  /** Yields each change once, until the signal aborts, the loop ends, or a refusal is not transient. */
  watch<T = PluginObject>(
    type: TypeName & Typed<T>,
    options?: WatchOptions<T> & { readonly bookmarks?: false | undefined },
  ): AsyncGenerator<ChangeEvent<T>, void, undefined>;
  watch<T = PluginObject>(
    type: TypeName & Typed<T>,
    options?: WatchOptions<T>,
  ): AsyncGenerator<WatchEvent<T>, void, undefined>;
  /** A cache of the objects that follows the server. */
  informer<T = PluginObject>(type: TypeName & Typed<T>, options?: InformerOptions<T>): Informer<T>;
};

/** The part of a client that sends one request for each call. */
export type RemoteCalls = Omit<RemoteClient, 'items' | 'pages' | 'watch' | 'informer'>;
