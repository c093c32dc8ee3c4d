import type { NodeReader } from '../../../read/operation/nodes.ts';
import { jsonAnswer } from '../../answer.ts';
import type { PlatformRoute } from '../../fixed-routes.ts';
import { platformApiVersion } from '../platform-type.ts';

export type NodeRoutesDependencies = {
  readonly domain: string;
  /** The id of this node. */
  readonly node: string;
  readonly nodes: NodeReader;
};

/** Creates the route of the platform's nodes. The route requires the right `list` on `nodes`. */
export function nodeRoutes({ domain, node, nodes }: NodeRoutesDependencies): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/api.console.${domain}/${platformApiVersion}/nodes`,
      route: () => jsonAnswer({ node, items: nodes.all() }),
    },
  ];
}
