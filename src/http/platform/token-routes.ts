import { notFound } from '../../command/refuse.ts';
import { tokenKey } from '../../auth/types/platform-types.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import { nameProblem } from '../../resource/type/names.ts';
import { asksForWatch } from '../watch/watch-negotiation.ts';
import { refusal, type Answer } from '../answer.ts';
import { Collections } from '../resources/collection.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { deleteItem, getItem, patchItem, type ItemTarget, type ResourcePorts } from '../resources/item.ts';
import { ownedPorts } from '../resources/owned-objects.ts';
import { platformType, platformApiVersion, refuseConfined } from './platform-type.ts';
import { problem } from '../problem.ts';

export type TokenRoutesDependencies = ResourcePorts & {
  readonly domain: string;
  readonly registry: TypeRegistry;
};

/**
 * Creates the routes for the caller's own personal access tokens, in the form of a generated API. Tokens of other users
 * result in 404.
 */
export function tokenRoutes({ domain, registry, ...ports }: TokenRoutesDependencies): readonly PlatformRoute[] {
  const path = `/apis/uc.api.${domain}/${platformApiVersion}/personalaccesstokens`;
  const onCollection =
    (
      serve: (exchange: Exchange, owned: ResourcePorts, type: ItemTarget['type']) => Answer | Promise<Answer>,
    ): PlatformRoute['route'] =>
    (_params, exchange) => {
      const served = platformType(registry, tokenKey);
      if (!served.ok) return served.answer;
      const { subject } = exchange;
      if (subject.kind !== 'user') return refusal(problem('not-found', 'only authenticated users have tokens'));
      return serve(
        exchange,
        ownedPorts(ports, { type: served.type, member: 'owner', owner: subject.name }),
        served.type,
      );
    };
  const onItem =
    (
      serve: (exchange: Exchange, target: ItemTarget, owned: ResourcePorts) => Answer | Promise<Answer>,
    ): PlatformRoute['route'] =>
    (params, exchange) => {
      const { name = '' } = params;
      return onCollection((_exchange, owned, type) =>
        nameProblem(name) === undefined
          ? serve(exchange, { type, name }, owned)
          : refusal(problem('not-found', notFound(type, name))),
      )(params, exchange);
    };
  return [
    {
      method: 'GET',
      path,
      route: onCollection((exchange, owned, type) =>
        asksForWatch(exchange.req, exchange.query, false) ? unwatched() : new Collections(owned).list(exchange, type),
      ),
    },
    {
      method: 'POST',
      path,
      route: onCollection(async (exchange, owned, type) => new Collections(owned).create(exchange, type, path)),
    },
    { method: 'GET', path: `${path}/{name}`, route: onItem(getItem) },
    {
      method: 'PATCH',
      path: `${path}/{name}`,
      route: onItem(async (exchange, target, owned) => refuseConfined(exchange) ?? patchItem(exchange, target, owned)),
    },
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
    problem('method-not-allowed', 'your own tokens can be listed but not watched', {
      headers: ['Allow', 'GET, HEAD, POST'],
    }),
  );
}
