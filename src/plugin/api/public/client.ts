import type { PluginObject, TypeName, Typed } from './object.ts';

export type ClientList<T = PluginObject> = {
  readonly items: readonly T[];
  readonly total: number;
  readonly resourceVersion: string;
};

/** The query parameters of a list, by name. */
export type ClientListQuery = {
  /** An object must match all of several selectors, as for a repeated parameter. */
  readonly labelSelector?: string | readonly string[];
  readonly fieldSelector?: string | readonly string[];
  readonly sort?: string | readonly string[];
  readonly page?: number;
  readonly size?: number;
};

/**
 * The generated API in-process. Every call has the rights of the caller (`client`) or of the plugin (`pluginClient`),
 * and rejects with a `ClientError` where HTTP would return an error. With a result of `defineType`, calls return that
 * type's objects.
 */
export type Client = {
  get<T = PluginObject>(type: TypeName & Typed<T>, name: string): Promise<T | undefined>;
  list<T = PluginObject>(type: TypeName & Typed<T>, query?: ClientListQuery): Promise<ClientList<T>>;
  create<T = PluginObject>(type: TypeName & Typed<T>, object: object): Promise<T>;
  update<T = PluginObject>(type: TypeName & Typed<T>, object: object, preconditions?: ClientPreconditions): Promise<T>;
  /** A merge patch (RFC 7396). */
  patch<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: object,
    preconditions?: ClientPreconditions,
  ): Promise<T>;
  /** The same for `{status}` only, for a type with `statusSubresource`: other writes do not change the status. */
  patchStatus<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: object,
    preconditions?: ClientPreconditions,
  ): Promise<T>;
  /** Returns the object, marked for deletion. */
  delete<T = PluginObject>(type: TypeName & Typed<T>, name: string, preconditions?: ClientPreconditions): Promise<T>;
};

/**
 * The object must still have this uid and version; otherwise the call is refused with `Conflict`. Applies in addition
 * to the body's own metadata.
 */
export type ClientPreconditions = { readonly uid?: string; readonly resourceVersion?: string };

export type ClientErrorMembers = {
  /** The reason from the table of errors, and its HTTP status. */
  readonly reason: string;
  readonly status: number;
  /** The invalid values, by JSON pointer. */
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryAfterSeconds?: number;
};

/**
 * The rejection of a `Client` call. A route's handler may rethrow it, or throw its own: the response is that of the
 * generated API for the same refusal.
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
