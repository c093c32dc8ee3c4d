import type { Clock } from '../../../src/base/clock.ts';
import type { LogDriver } from '../../../src/log/eventstore/eventstore-client.ts';
import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import type { EventLog } from '../../../src/log/log.ts';
import { NodeLog } from '../node/node-log.ts';
import { Passage, type Surroundings, type Traveller } from '../passage.ts';
import { SimDriver } from './sim-driver.ts';
import { epoch } from '../world.ts';

/** How one life of one node comes to the log. */
export type WayToLog = {
  readonly log: EventLog;
  /** Fails everything in flight. */
  readonly rejectInFlight: () => void;
  /** Its subscription left out an event, which must stop the node. */
  readonly hasGap: () => boolean;
  /** The subscription of the audit indexes left out an event: no tree of this life may be signed. */
  readonly hasAuditGap: () => boolean;
};

/** The port with all that it leaves open, or the adapter of EventStoreDB over a driver and servers that fail. */
export function wayToLog(world: Surroundings, traveller: Traveller, clock: Clock): WayToLog {
  if (world.cluster !== undefined) return wayToCluster(world, traveller, clock);
  const { timeline } = world;
  const log = new NodeLog(world, traveller);
  return {
    // Its clock is right.
    log: Object.assign(log, { time: () => epoch + Math.floor(timeline.now) }),
    rejectInFlight: () => {
      log.rejectInFlight();
    },
    hasGap: () => log.hasGap,
    hasAuditGap: () => log.hasAuditGap,
  };
}

function wayToCluster(world: Surroundings, traveller: Traveller, clock: Clock): WayToLog {
  const passage = new Passage(world, traveller);
  const drivers: SimDriver[] = [];
  const connect = (): LogDriver => {
    const driver = new SimDriver(world, passage);
    drivers.push(driver);
    return driver as unknown as LogDriver;
  };
  return {
    log: openEventStoreLog({ url: 'esdb+discover://servers', clock, connect }),
    rejectInFlight: () => {
      for (const driver of drivers) driver.breakAll();
    },
    hasGap: () => passage.hasGap,
    hasAuditGap: () => passage.hasAuditGap,
  };
}
