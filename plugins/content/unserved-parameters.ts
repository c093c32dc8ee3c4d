import type { ControllerDeclaration, RouteRequest } from '../../src/plugin/api/plugin.ts';
import { badRequest } from './refusals.ts';

/**
 * The parameters of the generated APIs that this plugin's routes do not support. If such a parameter were ignored, the
 * result would be wrong.
 */
const unserved = new Map([
  ['dryrun', 'dryRun'],
  ['at', 'at'],
]);

/** Adds a check to the routes of a controller. The check refuses these parameters, in any spelling, with 400. */
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
