import { auditedCategories } from '../../../projections/audit/audit-models.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import { eventType } from '../../audit/stream/event-type.ts';
import { changesOf, eventsUpTo, loggedEvents } from '../../audit/stream/watched-events.ts';
import type { Authorize } from '../../auth/authorization/authorize.ts';
import { eventRoutes } from '../../http/audit/event-routes.ts';
import { allowedBy, type EventScopes } from '../../http/audit/event-scope.ts';
import { EventWatches } from '../../http/audit/event-watches.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { createWatchEndpoints } from '../../http/watch/watch-endpoints.ts';
import { listTurnMs } from '../../limits/lists.ts';
import type { ChangeFeed } from '../../read/objects.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Allows } from '../../watch/guard.ts';
import { WatchHub } from '../../watch/hub.ts';
import type { Core } from './core.ts';

/** The routes and watches of the events in the log. */
export type ComposedEvents = {
  readonly routes: readonly PlatformRoute[];
  /** Ends the watches with events that their subjects may no longer read. */
  recheck(allows: Allows): void;
  /** Asks all watchers to connect again. */
  closeAll(): void;
};

export function composeEvents(core: Core, authorize: Authorize): ComposedEvents {
  const { audit, eventLog, models, edge } = core;
  const type = eventType(edge.domain);
  const allows = allowedBy((subject, request) => authorize(subject, request).allowed);
  const scopes: EventScopes = { type, allows, objectTypes: () => audit.events.objectTypes() };
  const watches = new EventWatches({ ...scopes, audit: audit.models, reader: models });
  let typeCount = 0;
  const hub = composeHub(core, type, () => {
    const types = audit.events.objectTypes().length;
    if (types === typeCount) return;
    typeCount = types;
    hub.closeWhere(
      (watched) => !watches.isCurrent(watched, allows),
      'a type has its first events; open a new watch to receive them',
    );
  });
  return {
    routes: eventRoutes({
      ...scopes,
      source: { log: eventLog, index: audit.events, categories: auditedCategories },
      audit: audit.models,
      reader: models,
      identity: () => eventLog.identity(),
      times: audit.times,
      watches: createWatchEndpoints({ ...edge, hub, decode: watches.decode.bind(watches) }),
    }),
    recheck: (standing) => {
      hub.recheck((watched) => watches.isCurrent(watched, allowedBy(standing)));
    },
    closeAll: () => {
      hub.closeAll();
    },
  };
}

/** With open watches, `onBatch` is called before the events of a commit are sent. */
function composeHub({ audit, eventLog, models, hub, edge }: Core, type: ResourceType, onBatch: () => void): WatchHub {
  const { log, clock } = edge;
  const categories = auditedCategories;
  const feed: ChangeFeed = {
    subscribe: (listener) =>
      audit.models.subscribe((batch) => {
        if (own.size > 0) onBatch();
        // Without watches, only the position of the last event is needed.
        listener(changesOf(own.size > 0 ? batch : batch.slice(-1), type));
      }),
  };
  const turns = new EventLoopTurns(clock, listTurnMs);
  const own: WatchHub = new WatchHub({
    feed,
    log: eventLog,
    clock,
    logged: loggedEvents(categories),
    outboxes: hub.outboxes,
    reader: {
      snapshots: models.snapshots,
      position: () => audit.models.position(),
      isKnown: (position) => models.isKnown(position),
      reached: audit.models.reached.bind(audit.models),
      objects: async (_type, query, wanted) => {
        const source = {
          log: eventLog,
          type,
          categories,
          wanted,
          turn: async () => turns.next(),
        };
        return Promise.resolve(eventsUpTo(audit.models.position(), query, source));
      },
    },
    report: (error) => {
      log.error('a watch of events failed', { error: String(error) });
    },
  });
  return own;
}
