import { jsonAnswer } from '../../answer.ts';
import type { PlatformRoute } from '../../fixed-routes.ts';
import type { SampleColumns } from '../../metrics/samples/samples.ts';
import { platformApiVersion } from '../platform-type.ts';

export type SampleRoutesDependencies = {
  readonly domain: string;
  /** The id of this node. */
  readonly node: string;
  readonly samples: { columns(): SampleColumns };
};

/**
 * Creates the route of the samples of this node's metrics in the last hour. The route requires the right `list` on
 * `samples`.
 */
export function sampleRoutes({ domain, node, samples }: SampleRoutesDependencies): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/api.console.${domain}/${platformApiVersion}/samples`,
      route: () => jsonAnswer({ node, ...samples.columns() }),
    },
  ];
}
