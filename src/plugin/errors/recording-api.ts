/**
 * A plugin's import of `ledgerplane/plugin` resolves to this module. The declaring functions here also record their
 * callers, so that the messages about a wrong declaration contain its file and line.
 */
import { recordPlace } from './declared-places.ts';

export * from '../api/plugin.ts';

export const definePlugin = recordPlace;
export const defineType = recordPlace;
export const defineReconciler = recordPlace;
export const defineRoute = recordPlace;
