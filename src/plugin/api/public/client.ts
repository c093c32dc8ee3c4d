import type { PluginObject, TypeName, Typed } from './object.ts';
import type { NewObject, ObjectPatch, ReplacedObject, StatusPatch } from './written.ts';

export type ClientList<T = PluginObject> = {
  readonly items: readonly T[];
  readonly total: number;
  readonly resourceVersion: string;
};

/** A selector that begins with an indexed field. The compiler does not check further conditions after a comma. */
type FieldSelector<Fields extends string> =
  Fields | `!${Fields}` | `${Fields}${' ' | '!' | ',' | '<' | '=' | '>' | '^'}${string}`;

type Sort<Fields extends string> = Fields | `${Fields},${string}`;

/** The query parameters of a list. `Fields` contains the names of the type's indexes. */
export type ClientListQuery<Fields extends string = string> = {
  /** An object must match all selectors of an array, as for a repeated query parameter. */
  readonly labelSelector?: string | readonly string[];
  readonly fieldSelector?: FieldSelector<Fields> | readonly FieldSelector<Fields>[];
  readonly sort?: Sort<Fields> | readonly Sort<Fields>[];
  readonly page?: number;
  readonly size?: number;
};

/**
 * Calls the generated API in-process, with the rights of the caller (`client`) or of the plugin (`pluginClient`). A
 * call rejects with a `ClientError` where HTTP would return an error. However, `get` resolves with undefined if no
 * object has the name. If `type` is a result of `defineType`, objects have the TypeScript type of the declaration.
 * `fieldSelector` and `sort` then accept only the type's indexes.
 */
export type Client = {
  get<T = PluginObject>(type: TypeName & Typed<T>, name: string): Promise<T | undefined>;
  list<T = PluginObject, Fields extends string = string>(
    type: TypeName & Typed<T, Fields>,
    query?: ClientListQuery<NoInfer<Fields>>,
  ): Promise<ClientList<T>>;
  create<T = PluginObject, Written = unknown>(
    type: TypeName & Typed<T, string, Written>,
    object: NewObject<NoInfer<T>, NoInfer<Written>>,
  ): Promise<T>;
  update<T = PluginObject, Written = unknown>(
    type: TypeName & Typed<T, string, Written>,
    object: ReplacedObject<NoInfer<T>, NoInfer<Written>>,
    preconditions?: ClientPreconditions,
  ): Promise<T>;
  /** Applies a merge patch (RFC 7396). */
  patch<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: ObjectPatch<NoInfer<T>>,
    preconditions?: ClientPreconditions,
  ): Promise<T>;
  /**
   * Applies a merge patch of the form `{status}`. The type must have `statusSubresource`. No other call changes the
   * status of an object of this type.
   */
  patchStatus<T = PluginObject>(
    type: TypeName & Typed<T>,
    name: string,
    patch: StatusPatch<NoInfer<T>>,
    preconditions?: ClientPreconditions,
  ): Promise<T>;
  /**
   * Deletes an object, and returns its last state with a `deletionTimestamp`. An object with finalizers exists until
   * all of its finalizers are removed.
   */
  delete<T = PluginObject>(type: TypeName & Typed<T>, name: string, preconditions?: ClientPreconditions): Promise<T>;
};

/**
 * The expected uid and version of the object. A call is refused with `Conflict` if the object has another uid or
 * version. The uid and version in the body's `metadata` are checked too.
 */
export type ClientPreconditions = {
  readonly uid?: string;
  readonly resourceVersion?: string;
};

export type ClientErrorMembers = {
  /** A reason from the table of errors in the API documentation. */
  readonly reason: string;
  /** The HTTP status of the reason. */
  readonly status: number;
  /** The invalid values, each as a JSON pointer with a message. */
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryAfterSeconds?: number;
};

/**
 * The error of a refused `Client` call. The handler of a route may rethrow the error or throw a new `ClientError`. The
 * response then has the form of the generated API's error responses.
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
