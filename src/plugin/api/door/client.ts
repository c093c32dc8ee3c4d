import type { PluginObject, TypeName, Typed } from './object.ts';

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

/**
 * The generated API in-process. Every call is authorized as the caller (`client`) or as the plugin itself (`pluginClient`)
 * and rejects with a `ClientError` where HTTP would answer an error. Given what `defineType` answered, it answers that type's
 * objects.
 */
export type Client = {
  get<T = PluginObject>(type: TypeName & Typed<T>, name: string): Promise<T | undefined>;
  list<T = PluginObject>(type: TypeName & Typed<T>, query?: ClientListQuery): Promise<ClientList<T>>;
  create<T = PluginObject>(type: TypeName & Typed<T>, object: object): Promise<T>;
  update<T = PluginObject>(type: TypeName & Typed<T>, object: object, preconditions?: ClientPreconditions): Promise<T>;
  /** A merge patch (RFC 7396). */
  patch<T = PluginObject>(type: TypeName & Typed<T>, name: string, patch: object, preconditions?: ClientPreconditions): Promise<T>;
  /** The same of `{status}` alone, where the type has `statusSubresource`: what else is written leaves the status as it is. */
  patchStatus<T = PluginObject>(type: TypeName & Typed<T>, name: string, patch: object, preconditions?: ClientPreconditions): Promise<T>;
  /** The object, marked for deletion. */
  delete<T = PluginObject>(type: TypeName & Typed<T>, name: string, preconditions?: ClientPreconditions): Promise<T>;
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
