import { ClientError } from '../client.ts';
import type { ControllerDeclaration, RouteDeclaration, RouteMethod, RouteRequest, RouteResponse } from '../route.ts';
import { createOwn, deleteOwn, getOwn, listOwn, patchOwn, updateOwn, type Own } from './own-answers.ts';
import type { AnyObject, OwnType } from './own-calls.ts';
import { untyped, writeOwn } from './own-calls.ts';
import { expectedVersion, type Members } from './own-members.ts';
import { refuseUnsupported } from './parameters.ts';

const ownVerbs = ['list', 'create', 'get', 'update', 'patch', 'delete'] as const;

export type OwnVerb = (typeof ownVerbs)[number];

export type OwnObjects<T extends AnyObject> = {
  /** A result of `defineType`. */
  readonly type: OwnType<T>;
  readonly apiVersion: string;
  readonly path: string;
  /** The member of `spec` that contains the user name of the owner. The type must have the index `spec.<owner>`. */
  readonly owner: string & keyof T['spec'];
  /** All verbs by default. */
  readonly verbs?: readonly OwnVerb[];
  /** The members of `spec` that the owner cannot change. The routes ignore these members in requests. */
  readonly kept?: readonly (string & keyof T['spec'])[];
  /**
   * Checks the `spec` of a request before the write. Throws a `ClientError` to refuse the write. `stored` is undefined
   * for a new object. A request without a `spec` is not checked.
   */
  readonly check?: (spec: Members, stored: T | undefined) => void;
  /**
   * Returns the part of an object that a list with `?summary=true` contains, for example without long texts. Without
   * this function, lists refuse the parameter.
   */
  readonly summary?: (object: T) => object;
  /**
   * The actions, by name. Each action is served at `PUT …/{name}/<action>`. The function returns a merge patch for the
   * object.
   */
  readonly actions?: Readonly<Record<string, (object: T, request: RouteRequest) => object>>;
};

type Answer<T> = (own: Own<T>) => Promise<RouteResponse>;

/**
 * Declares the routes for a user's own objects. The routes read and write objects with the plugin's rights, so users
 * need rights on the routes, but not on the type. Objects of other users return 404. Lists, `ETag`, `If-Match` and the
 * preconditions in bodies work as in the generated API, except for the parameters that `refuseUnsupported` refuses.
 */
export function ownObjects<T extends AnyObject>(options: OwnObjects<T>): ControllerDeclaration {
  const { type, apiVersion, path, owner, verbs = ownVerbs, summary } = options;
  const protectedMembers = [owner, ...(options.kept ?? [])];
  const check = options.check ?? (() => undefined);
  const route = (method: RouteMethod, subpath: string, answer: Answer<T>): RouteDeclaration => ({
    method,
    path: subpath,
    handler: async (request) => {
      refuseVisitor(request, type.plural);
      refuseUnsupported(request.query);
      const base = `/apis/${apiVersion}${path}`;
      return answer({ request, type, ownerMember: owner, path: base, protectedMembers, check, summary });
    },
  });
  const actions = Object.entries(options.actions ?? {});
  return {
    apiVersion,
    path,
    routes: [
      ...verbs.map((verb) => route(...routesOfVerbs[verb])),
      ...actions.map(([name, act]) => route('PUT', `/{name}/${name}`, async (own) => runAction(own, act))),
    ],
  };
}

const routesOfVerbs: Readonly<
  Record<OwnVerb, readonly [RouteMethod, string, <T extends AnyObject>(own: Own<T>) => Promise<RouteResponse>]>
> = {
  list: ['GET', '/', listOwn],
  create: ['POST', '/', createOwn],
  get: ['GET', '/{name}', getOwn],
  update: ['PUT', '/{name}', updateOwn],
  patch: ['PATCH', '/{name}', patchOwn],
  delete: ['DELETE', '/{name}', deleteOwn],
};

/** Refuses visitors. All visitors have the same user name, so an object of one visitor would belong to all visitors. */
function refuseVisitor({ user }: RouteRequest, plural: string): void {
  if (user.name !== 'system:anonymous') return;
  throw new ClientError(`${plural} belong to users: log in first`, { reason: 'Forbidden', status: 403 });
}

/** Applies an action. The request's body may contain the expected version: `{metadata: {version, resourceVersion}}`. */
async function runAction<T extends AnyObject>(
  own: Own<T>,
  act: (object: T, request: RouteRequest) => object,
): Promise<RouteResponse> {
  const { request, type } = own;
  return writeOwn(own, async (found, preconditions) => {
    const patch = { ...act(found, request), ...expectedVersion(request.body) };
    return request.pluginClient.patch(untyped(type), found.metadata.name, patch, preconditions);
  });
}
