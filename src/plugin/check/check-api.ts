/**
 * `ledgerplane/plugin` in the process of a check: the same module, whose functions also record the place of each call.
 * So a problem of a declaration has a file and a line.
 */
import { recordPlace } from './declared-places.ts';

export * from '../api/plugin.ts';

export const definePlugin = recordPlace;
export const defineType = recordPlace;
export const defineReconciler = recordPlace;
export const defineRoute = recordPlace;
