import type { ControllerDeclaration, RouteRequest } from '../../src/plugin/api/plugin.ts';
import { badRequest } from './refusals.ts';

/**
 * Parameters of the generated APIs that this plugin's routes do not support; ignoring one would return a wrong result.
 */
const unserved = new Map([
  ['dryrun', 'dryRun'],
  ['at', 'at'],
]);

/** Returns the same routes, which refuse these parameters in any spelling (400): a dry run must not write. */
export function refusingUnserved(controller: ControllerDeclaration): ControllerDeclaration {
  const routes = controller.routes?.map((route) => ({
    ...route,
    handler: (request: RouteRequest) => {
      refuseUnserved(request.query);
      return route.handler(request);
    },
  }));
  return { ...controller, ...(routes === undefined ? {} : { routes }) };
}

function refuseUnserved(query: RouteRequest['query']): void {
  for (const name of Object.keys(query)) {
    const meant = unserved.get(name.toLowerCase().replaceAll(/[-_]/gu, ''));
    if (meant !== undefined) throw badRequest(`${meant} is not served here`);
  }
}
