import { ClientError, type ClientPreconditions } from '../client.ts';
import type { PluginObject, Typed, TypeName } from '../object.ts';
import type { RouteRequest, RouteResponse } from '../route.ts';
import { checkIfMatch, objectResponse } from './entity-tag.ts';

export type AnyObject = PluginObject<object, object>;

/** A result of `defineType`. */
export type OwnType<T> = TypeName & Typed<T> & { readonly kind: string };

/** A call of a route of `ownObjects`. */
export type OwnCall<T> = {
  readonly request: RouteRequest;
  readonly type: OwnType<T>;
  /** The member of `spec` that contains the name of the owner. */
  readonly ownerMember: string;
};

/** Returns the type without the TypeScript type of its objects, because a request may contain any members. */
export function untyped({ group, version, plural }: TypeName): TypeName {
  return { group, version, plural };
}

/**
 * The maximum number of attempts of a write. A retry follows only a conflict with another writer, and so many conflicts
 * in a row are unlikely.
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
 * Writes an object of the caller. The write fails if the object has changed since the check of its owner. After a
 * conflict, reads and checks the object again. Throws the error if the object has not changed since the previous
 * conflict, because the request's own preconditions then cause the conflict.
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
