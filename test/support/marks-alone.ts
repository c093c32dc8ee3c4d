import type { EventLog } from '../../src/log/log.ts';
import { altered } from './writing.ts';

/**
 * Wraps a log so that it contains objects for the collector: of an append with a mark and a removal, it appends only
 * the mark, like the server for an append that would be too large.
 */
export function marksAlone(log: EventLog): EventLog {
  return altered(log, { append: async (stream, events, expected) => log.append(stream, events.slice(0, 1), expected) });
}
