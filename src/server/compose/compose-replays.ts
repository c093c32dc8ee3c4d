import type { Authorize } from '../../auth/authorization/authorize.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { replayRoutes } from '../../http/platform/replay-routes.ts';
import { typeKey } from '../../resource/type/index-entry.ts';
import { Replays } from '../replay/replays.ts';
import type { Core } from './core.ts';

export type ComposedReplays = {
  readonly routes: readonly PlatformRoute[];
  stop(): Promise<void>;
};

export function composeReplays(core: Core, authorize: Authorize): ComposedReplays {
  const {
    config,
    models,
    audit,
    eventLog,
    registry,
    disk,
    accessTables: { permissions },
    edge: { domain, clock },
  } = core;
  const live = {
    models,
    permissions,
    audit: audit.models,
    columns: audit.columns,
    log: eventLog,
    domain,
    clock,
    disk,
  };
  const replays = new Replays({ config, clock, live, reserveBytes: disk.reserveBytes });
  const isKnownType = (text: string): boolean => {
    if (!/^[a-z][a-z0-9-]*(?:\.[a-z0-9.-]+)?$/u.test(text)) return false;
    const type = typeKey(text);
    const hasObjects = models.namesOf(type, { after: undefined, limit: 1 }).length > 0;
    return hasObjects || registry.byKey(type) !== undefined || models.declarations.declared(type) !== undefined;
  };
  return {
    routes: replayRoutes({ domain, authorize, replayer: replays, isKnownType }),
    stop: async () => replays.stop(),
  };
}
