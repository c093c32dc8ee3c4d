import type { LoadedPlugin } from '../load/load-plugin.ts';

/** The parts of a plugin's version that users see. */
export type PluginParts = {
  /** The kinds of the types. */
  readonly types: readonly string[];
  /** The numbers of roles, other shipped objects, routes (including sockets) and reconcilers. */
  readonly roles: number;
  readonly objects: number;
  readonly routes: number;
  readonly reconcilers: number;
  /** Whether the plugin adds a front end to the console. */
  readonly pages: boolean;
};

export function partsOf({ types, objects, definition, frontEnd }: LoadedPlugin): PluginParts {
  const { routes, sockets, reconcilers } = definition;
  const roles = objects.filter(({ kind }) => kind === 'Role').length;
  return {
    types: [...new Set(types.map(({ kind }) => kind))],
    roles,
    objects: objects.length - roles,
    routes: routes.length + sockets.length,
    reconcilers: reconcilers.length,
    pages: frontEnd?.ok === true,
  };
}
