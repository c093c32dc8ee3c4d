import { randomUUID } from 'node:crypto';

import { Heartbeat } from '../../../reconcilers/platform/heartbeat.ts';
import { Levels } from '../../../reconcilers/platform/levels.ts';
import { levelRead } from '../../command/level.ts';
import type { LogPosition } from '../../log/log.ts';
import { metadataOf } from './compose-reconcilers.ts';
import { drainOf } from './compose-uniqueness.ts';
import type { Core } from './core.ts';

/** The heartbeat of this node, and the level of the log. */
export type NodeLevels = {
  /**
   * Must be called after the read models have caught up. On a single node, resolves once the log has the highest level
   * that this node can read.
   */
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
  const given = {
    log,
    clock,
    uuid: randomUUID,
    node,
    reads: levelRead,
    metadata: metadataOf('node', core),
  };
  const drain = drainOf(core);
  const drained = (): LogPosition => {
    // `drain` is not awaited, because an unavailable log must not delay this heartbeat. The next heartbeat contains the
    // result.
    void drain();
    return core.unsettled.drained();
  };
  const heartbeat = new Heartbeat({ ...given, drained, describe: core.describe });
  const levels = new Levels({
    ...given,
    reader: models,
    level: models.level,
    leadership,
    isAlone,
    onRaised: (level) => {
      logger.info(
        'raised the level of the event log: platform versions that cannot read this level stop and no longer start',
        { level },
      );
    },
    onError: (error) => {
      logger.error('could not read or raise the level of the event log; retrying', { error: String(error) });
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
