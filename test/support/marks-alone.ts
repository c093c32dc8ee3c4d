import type { EventLog } from '../../src/log/log.ts';
import { altered } from './writing.ts';

/**
 * A log that holds what the collector is for: of an append of a mark and a removal it takes the mark, as of one too
 * large.
 */
export function marksAlone(log: EventLog): EventLog {
  return altered(log, { append: async (stream, events, expected) => log.append(stream, events.slice(0, 1), expected) });
}
