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
export type RemoteListQuery = ClientListQuery & CallOptions;

/**
 * A `Client` over HTTP. Calls are sent once: a rejection with a `ConnectionError` leaves open whether a write took
 * place, and `retryAfterSeconds` of a `ClientError` is for the caller. Watches and informers try again by themselves.
 */
export type RemoteClient = {
  /** Undefined if there is no object of this name; rejects if there is no such type. */
  get<T = PluginObject>(type: TypeName & Typed<T>, name: string, options?: CallOptions): Promise<T | undefined>;
  list<T = PluginObject>(type: TypeName & Typed<T>, query?: RemoteListQuery): Promise<ClientList<T>>;
  create<T = PluginObject>(type: TypeName & Typed<T>, object: object, options?: CallOptions): Promise<T>;
  update<T = PluginObject>(type: TypeName & Typed<T>, object: object, options?: WriteOptions): Promise<T>;
  /** A merge patch (RFC 7396). */
  patch<T = PluginObject>(type: TypeName & Typed<T>, name: string, patch: object, options?: WriteOptions): Promise<T>;
  /** The same for `{status}` only, for a type with `statusSubresource`. */
  patchStatus<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** Returns the last state, marked for deletion. */
  delete<T = PluginObject>(type: TypeName & Typed<T>, name: string, options?: WriteOptions): Promise<T>;
  /** Every object that exists throughout, exactly once, read by pages. */
  items<T = PluginObject>(type: TypeName & Typed<T>, query?: PagesQuery): AsyncGenerator<T, void, undefined>;
  /** The pages of the same list. */
  pages<T = PluginObject>(type: TypeName & Typed<T>, query?: PagesQuery): AsyncGenerator<ListPage<T>, void, undefined>;
  /** Each change once, until the signal aborts, the loop is left, or a refusal stays. */
  watch<T = PluginObject>(
    type: TypeName & Typed<T>,
    options?: WatchOptions<T> & { readonly bookmarks?: false | undefined },
  ): AsyncGenerator<ChangeEvent<T>, void, undefined>;
  watch<T = PluginObject>(
    type: TypeName & Typed<T>,
    options?: WatchOptions<T>,
  ): AsyncGenerator<WatchEvent<T>, void, undefined>;
  /** A cache that follows the server from now on. */
  informer<T = PluginObject>(type: TypeName & Typed<T>, options?: InformerOptions<T>): Informer<T>;
};

/** The part of a client that sends one request for each call. */
export type RemoteCalls = Omit<RemoteClient, 'items' | 'pages' | 'watch' | 'informer'>;
