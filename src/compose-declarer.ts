import { randomUUID } from 'node:crypto';

import type { ObjectModels } from '../projections/object-models.ts';
import { Declarer } from '../reconcilers/declarer.ts';
import type { Leadership } from '../reconcilers/lease.ts';
import type { Clock } from './base/clock.ts';
import { metadataOf } from './compose-reconcilers.ts';
import type { EventLog } from './log/log.ts';
import type { PluginLogger } from './plugin/plugin.ts';
import type { TypeRegistry } from './plugin/type-registry.ts';
import { settlingLog } from './write/append.ts';

/** What says in the log what types are declared as. Each part is the server's own. */
export type DeclarerParts = {
  readonly registry: TypeRegistry;
  readonly models: ObjectModels;
  readonly eventLog: EventLog;
  readonly edge: { readonly domain: string; readonly clock: Clock; readonly log: PluginLogger };
  readonly leadership: Leadership;
  /** No other node writes to this log. */
  readonly isAlone: boolean;
};

export function composeDeclarer(parts: DeclarerParts): Declarer {
  const { registry, models, eventLog, edge: { clock, log }, leadership, isAlone } = parts;
  return new Declarer({
    log: settlingLog(eventLog, clock), reader: models, declarations: models.declarations, level: models.level, leadership, isAlone, clock, uuid: randomUUID,
    metadata: metadataOf('declarations', parts),
    typeOf: (key) => registry.byKey(key)?.type,
    served: () => registry.all().filter(({ serving }) => serving).map(({ type }) => type),
    onOther: ({ key, plugin, declaration }, { version, code }) => {
      log.warn('the log has another declaration of a type: this server refuses writes of its objects', {
        type: key, plugin, here: declaration?.version, codeHere: declaration?.code, declared: version, codeDeclared: code,
      });
    },
    onError: (error, type) => { log.error('could not declare a type', { type, error: String(error) }); },
  });
}
