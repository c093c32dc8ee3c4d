import { ClientError, type ClientPreconditions } from '../client.ts';
import type { PluginObject, Typed, TypeName } from '../object.ts';
import type { RouteRequest, RouteResponse } from '../route.ts';
import { checkIfMatch, objectResponse } from './entity-tag.ts';

export type AnyObject = PluginObject<object, object>;

/** A result of `defineType`. */
export type OwnType<T> = TypeName & Typed<T> & { readonly kind: string };

/** A call of one of the routes of `ownObjects`. */
export type OwnCall<T> = {
  readonly request: RouteRequest;
  readonly type: OwnType<T>;
  /** The member of `spec` that holds the name of the owner. */
  readonly ownerMember: string;
};

/**
 * Returns the names of the type without the TypeScript type of its objects, because a request may contain any members.
 */
export function untyped({ group, version, plural }: TypeName): TypeName {
  return { group, version, plural };
}

/**
 * The maximum number of attempts of a write. An attempt is repeated only after a conflict with another writer, so more
 * attempts are hardly ever necessary.
 */
const attemptsMax = 8;

/**
 * Returns the object that the path names.
 *
 * @throws 404 if the object does not exist or belongs to another user.
 */
export async function readOwn<T extends AnyObject>(call: OwnCall<T>): Promise<T> {
  const { request, type, ownerMember } = call;
  const name = request.params['name'] ?? '';
  const found = await request.pluginClient.get<T>(type, name);
  const owner: unknown = found === undefined ? undefined : Reflect.get(found.spec, ownerMember);
  if (found !== undefined && owner === request.user.name) return found;
  const { plural, group } = type;
  throw new ClientError(`${plural}.${group} ${JSON.stringify(name)} not found`, { reason: 'NotFound', status: 404 });
}

/**
 * Checks that the caller owns the object, and writes only if the object still has the checked version, so that the
 * write fails if the owner changes in between. After a conflict, reads and checks the object again. If the version has
 * not changed since the previous conflict, the preconditions in the request caused the conflict, and the error is
 * thrown.
 */
export async function writeOwn<T extends AnyObject>(
  call: OwnCall<T>,
  write: (found: T, preconditions: ClientPreconditions) => Promise<PluginObject>,
): Promise<RouteResponse> {
  let judged: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const found = await readOwn(call);
    const { resourceVersion } = found.metadata;
    checkIfMatch(call.request, found);
    try {
      return objectResponse(await write(found, { resourceVersion }));
    } catch (error) {
      const isConflict = error instanceof ClientError && error.reason === 'Conflict';
      if (!isConflict || judged === resourceVersion || attempt === attemptsMax) throw error;
      judged = resourceVersion;
    }
  }
}
