/**
 * The module that a plugin imports as `ledgerplane/plugin` during a check. It has the same exports as the real module,
 * but the functions that declare something also record the place of the call, so that a problem of a declaration can be
 * reported with a file and a line.
 */
import { recordPlace } from './declared-places.ts';

export * from '../api/plugin.ts';

export const definePlugin = recordPlace;
export const defineType = recordPlace;
export const defineReconciler = recordPlace;
export const defineRoute = recordPlace;
