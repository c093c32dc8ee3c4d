import { visitor } from '../../src/command/subject.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { Timeline } from './timeline.ts';
import { epoch } from './world.ts';

/** The request of a list, from a caller that never disconnects. */
export function exchangeOf(rawQuery: string, timeline: Timeline): Exchange {
  const res = { closed: false, once: () => undefined };
  return {
    rawQuery,
    query: new URLSearchParams(rawQuery),
    subject: visitor,
    sender: { address: '', isSecure: false },
    clock: { now: () => epoch + timeline.now },
    req: { headers: {} },
    res,
  } as unknown as Exchange;
}
