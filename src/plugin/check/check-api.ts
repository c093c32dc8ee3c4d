/**
 * During a check, a plugin's import of `ledgerplane/plugin` resolves to this module instead of the real module. The
 * declaring functions here also record their callers. The check can thus report the file and line of a wrong
 * declaration.
 */
import { recordPlace } from './declared-places.ts';

export * from '../api/plugin.ts';

export const definePlugin = recordPlace;
export const defineType = recordPlace;
export const defineReconciler = recordPlace;
export const defineRoute = recordPlace;
