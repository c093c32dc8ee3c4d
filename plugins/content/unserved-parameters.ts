import type { ControllerDeclaration, RouteRequest } from '../../src/plugin/api/plugin.ts';
import { badRequest } from './refusals.ts';

/**
 * Query parameters that only the generated APIs support, by normalized spelling. An ignored parameter would lead to a
 * wrong result, for example a write despite `dryRun`.
 */
const unserved = new Map([
  ['dryrun', 'dryRun'],
  ['at', 'at'],
]);

/**
 * Returns the controller with a check in each route. The check refuses (400) a request with a parameter of `unserved`,
 * in any spelling.
 */
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
    if (meant !== undefined) throw badRequest(`the parameter ${meant} is not supported`);
  }
}
