import type { Leadership } from '../../../read/leadership.ts';
import type { ReconcilerReports } from '../../../read/operation/reconciler-report.ts';
import { jsonAnswer } from '../../answer.ts';
import type { PlatformRoute } from '../../fixed-routes.ts';
import { platformApiVersion } from '../platform-type.ts';

export type ReconcilerRoutesDependencies = {
  readonly domain: string;
  /** The id of this node. */
  readonly node: string;
  readonly leadership: Pick<Leadership, 'isLeader'>;
  readonly reconcilers: ReconcilerReports;
};

/**
 * Creates the route of the reconcilers of this node. The route requires the right `list` on `reconcilers`. Each node
 * reports its own state, and only the leader reconciles.
 */
export function reconcilerRoutes({
  domain,
  node,
  leadership,
  reconcilers,
}: ReconcilerRoutesDependencies): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/api.console.${domain}/${platformApiVersion}/reconcilers`,
      route: () => jsonAnswer({ node, isLeader: leadership.isLeader(), items: reconcilers.reports() }),
    },
  ];
}
