/**
 * `ledgerplane/plugin` in the process of a check: the same module, with functions that record where the plugin calls
 * them, so that a problem of a declaration has a file and a line.
 */
import { recordPlace } from './declared-places.ts';

export * from '../api/plugin.ts';

export const definePlugin = recordPlace;
export const defineType = recordPlace;
export const defineReconciler = recordPlace;
