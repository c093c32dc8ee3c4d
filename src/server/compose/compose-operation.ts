import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { reconcilerRoutes } from '../../http/platform/reconciler-routes.ts';
import type { Core } from './core.ts';

/** The routes that show operators the state of this node and of the platform. */
export type Operation = { readonly routes: readonly PlatformRoute[] };

export function composeOperation({ node, leadership, bound, edge: { domain } }: Core): Operation {
  return { routes: [...reconcilerRoutes({ domain, node, leadership, reconcilers: bound })] };
}
