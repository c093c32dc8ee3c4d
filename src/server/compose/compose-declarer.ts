import { randomUUID } from 'node:crypto';

import { Declarer } from '../../../reconcilers/platform/declarer.ts';
import { retryingLog } from '../../write/retrying-log.ts';
import { metadataOf } from './compose-reconcilers.ts';
import type { Core } from './core.ts';

export function composeDeclarer(core: Core): Declarer {
  const {
    registry,
    models,
    eventLog,
    edge: { clock, log },
    leadership,
    isAlone,
  } = core;
  return new Declarer({
    log: retryingLog(eventLog, clock),
    reader: models,
    declarations: models.declarations,
    level: models.level,
    leadership,
    isAlone,
    clock,
    uuid: randomUUID,
    metadata: metadataOf('declarations', core),
    typeOf: (key) => registry.byKey(key)?.type,
    served: () =>
      registry
        .all()
        .filter(({ serving }) => serving)
        .map(({ type }) => type),
    onOther: ({ key, plugin, declaration }, { version, code }) => {
      log.warn('the event log has another declaration of a type: this server rejects writes to objects of the type', {
        type: key,
        plugin,
        here: declaration?.version,
        codeHere: declaration?.code,
        declared: version,
        codeDeclared: code,
      });
    },
    onError: (error, type) => {
      log.error('could not record the declaration of a type: the event log is damaged', { type, error: String(error) });
    },
  });
}
