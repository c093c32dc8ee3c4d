import { sessionKey } from '../../auth/types/platform-types.ts';
import { notFound } from '../../command/refuse.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { nameProblem } from '../../resource/type/names.ts';
import { refusal, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { Collections } from '../resources/collection.ts';
import { deleteCollection } from '../resources/delete-collection.ts';
import { deleteItem, getItem, type ItemTarget, type ResourcePorts } from '../resources/item.ts';
import { ownedPorts } from '../resources/owned-objects.ts';
import { asksForWatch } from '../watch/watch-negotiation.ts';
import { problem } from '../problem.ts';
import { platformApiVersion, platformType, refuseConfined } from './platform-type.ts';

export type OwnSessionRoutesDependencies = ResourcePorts & {
  readonly domain: string;
  readonly registry: TypeRegistry;
  readonly permissions: Pick<PermissionReader, 'session'>;
};

/** The caller's sessions. `current` is the name of the request's session; undefined without a session cookie. */
type Own = { readonly type: ItemTarget['type']; readonly user: string; readonly current: string | undefined };

/**
 * Creates the routes for the caller's own sessions, in the form of a generated API. Sessions of other users result in
 * 404. The name `-` means the session of the request. A deletion of the collection keeps the session of the request.
 */
export function ownSessionRoutes({
  domain,
  registry,
  permissions,
  ...ports
}: OwnSessionRoutesDependencies): readonly PlatformRoute[] {
  const path = `/apis/uc.api.${domain}/${platformApiVersion}/sessions`;
  const own =
    (
      serve: (exchange: Exchange, own: Own, params: Readonly<Record<string, string>>) => Answer | Promise<Answer>,
    ): PlatformRoute['route'] =>
    (params, exchange) => {
      const served = platformType(registry, sessionKey);
      if (!served.ok) return served.answer;
      const { subject } = exchange;
      if (subject.kind !== 'user') return refusal(problem('not-found', 'only authenticated users have sessions'));
      const { credential } = subject;
      const current = credential.kind === 'session' ? permissions.session(credential.uid)?.name : undefined;
      return serve(exchange, { type: served.type, user: subject.name, current }, params);
    };
  const onItem = (
    serve: (exchange: Exchange, target: ItemTarget, owned: ResourcePorts) => Answer | Promise<Answer>,
  ): PlatformRoute['route'] =>
    own((exchange, { type, user, current }, { name: given = '' }) => {
      const name = given === '-' ? current : given;
      if (name === undefined)
        return refusal(problem('not-found', 'the request is not authenticated by a session cookie'));
      return nameProblem(name) === undefined
        ? serve(exchange, { type, name }, ownedPorts(ports, { type, member: 'user', owner: user }))
        : refusal(problem('not-found', notFound(type, name)));
    });
  return [
    {
      method: 'GET',
      path,
      route: own((exchange, { type, user }) =>
        asksForWatch(exchange.req, exchange.query, false)
          ? unwatched()
          : new Collections(ownedPorts(ports, { type, member: 'user', owner: user })).list(exchange, type),
      ),
    },
    {
      method: 'DELETE',
      path,
      route: own(
        async (exchange, { type, user, current }) =>
          refuseConfined(exchange) ??
          deleteCollection(exchange, type, ownedPorts(ports, { type, member: 'user', owner: user, except: current })),
      ),
    },
    { method: 'GET', path: `${path}/{name}`, route: onItem(getItem) },
    {
      method: 'DELETE',
      path: `${path}/{name}`,
      route: onItem(async (exchange, target, owned) => refuseConfined(exchange) ?? deleteItem(exchange, target, owned)),
    },
  ];
}

/** Refuses a watch. A client that receives a list instead would wait for events forever. */
function unwatched(): Answer {
  return refusal(
    problem('method-not-allowed', 'your own sessions can be listed but not watched', {
      headers: ['Allow', 'DELETE, GET, HEAD'],
    }),
  );
}
