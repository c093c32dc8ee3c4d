import { randomUUID } from 'node:crypto';

import type { ObjectModels } from '../projections/object-models.ts';
import { Heartbeat } from '../reconcilers/heartbeat.ts';
import type { Leadership } from '../reconcilers/lease.ts';
import { Levels } from '../reconcilers/levels.ts';
import type { Clock } from './base/clock.ts';
import { levelRead } from './command/level.ts';
import { metadataOf } from './compose-reconcilers.ts';
import type { EventLog } from './log/log.ts';
import type { PluginLogger } from './plugin/plugin.ts';

/** What tells other nodes that this one runs, and raises the log's level. Each part is the server's own. */
export type LevelsParts = {
  readonly models: ObjectModels;
  readonly eventLog: EventLog;
  readonly edge: { readonly domain: string; readonly clock: Clock; readonly log: PluginLogger };
  readonly leadership: Leadership;
  /** Drawn at this start. */
  readonly node: string;
  /** No other node writes to this log: none is to be told anything. */
  readonly isAlone: boolean;
};

export type NodeLevels = {
  /** Once the read models have caught up. Resolves, where this node is alone, once the log has the level it reads. */
  open(): Promise<void>;
  stop(): Promise<void>;
};

export function composeLevels(parts: LevelsParts): NodeLevels {
  const { models, eventLog: log, edge: { clock, log: logger }, leadership, node, isAlone } = parts;
  const given = { log, clock, uuid: randomUUID, node, reads: levelRead, metadata: metadataOf('node', parts) };
  const heartbeat = new Heartbeat(given);
  const levels = new Levels({
    ...given, reader: models, level: models.level, leadership, isAlone,
    onRaised: (level) => { logger.info('raised the level of the log: versions that do not support it stop, and a downgrade to them is not possible', { level }); },
    onError: (error) => { logger.error('could not read or raise the level of the log', { error: String(error) }); },
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
