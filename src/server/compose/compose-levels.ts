import { randomUUID } from 'node:crypto';

import { Heartbeat } from '../../../reconcilers/platform/heartbeat.ts';
import { Levels } from '../../../reconcilers/platform/levels.ts';
import { levelRead } from '../../command/level.ts';
import { metadataOf } from './compose-reconcilers.ts';
import type { Core } from './core.ts';

/** The heartbeat of this node, and the level of the log. */
export type NodeLevels = {
  /** Once the read models have caught up. Resolves, where this node is alone, once the log has the level it reads. */
  open(): Promise<void>;
  stop(): Promise<void>;
};

export function composeLevels(core: Core): NodeLevels {
  const {
    models,
    eventLog: log,
    edge: { clock, log: logger },
    leadership,
    node,
    isAlone,
  } = core;
  const given = { log, clock, uuid: randomUUID, node, reads: levelRead, metadata: metadataOf('node', core) };
  const heartbeat = new Heartbeat(given);
  const levels = new Levels({
    ...given,
    reader: models,
    level: models.level,
    leadership,
    isAlone,
    onRaised: (level) => {
      logger.info(
        'raised the level of the log: versions that do not support it stop, and a downgrade to them is not possible',
        { level },
      );
    },
    onError: (error) => {
      logger.error('could not read or raise the level of the log', { error: String(error) });
    },
  });
  return {
    open: async () => {
      if (!isAlone) heartbeat.start();
      await levels.open();
    },
    stop: async () => {
      levels.stop();
      if (!isAlone) await heartbeat.stop();
    },
  };
}
