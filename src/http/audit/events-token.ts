import type { LogPosition } from '../../log/log.ts';
import { decodeParts, encodeParts, identityHash, isCount, positionOf } from '../resources/page-token.ts';

/** The content of a continue token for pages of events. A token grants no rights. */
export type EventsToken = {
  /** The log position when the first page was read. No page contains a later event. */
  readonly head: LogPosition;
  /** The position at which the next page begins. */
  readonly from: LogPosition;
};

export type DecodedEventsToken =
  | { readonly ok: true; readonly token: EventsToken }
  /**
   * `malformed`: the text is not a token, or the token belongs to another query. `expired`: the token belongs to
   * another epoch of the log.
   */
  | { readonly ok: false; readonly problem: 'malformed' | 'expired' };

/**
 * A token is valid only for these values. `query` contains the id of the log and the parameters that choose the events.
 */
export type EventsIdentity = {
  readonly epoch: number;
  readonly query: readonly string[];
};

const tokenLengthMax = 256;

export function encodeEventsToken({ head, from }: EventsToken, { epoch, query }: EventsIdentity): string {
  return encodeParts([identityHash(query), epoch, head.toString(), from.toString()]);
}

export function decodeEventsToken(text: string, identity: EventsIdentity): DecodedEventsToken {
  const malformed = { ok: false, problem: 'malformed' } as const;
  const parts = text.length > tokenLengthMax ? undefined : decodeParts(text, { count: 4, depthMax: 1 });
  if (parts === undefined) return malformed;
  const [query, epoch, last, begin] = parts;
  if (query !== identityHash(identity.query) || !isCount(epoch)) return malformed;
  const [head, from] = [positionOf(last), positionOf(begin)];
  if (head === undefined || from === undefined) return malformed;
  if (epoch !== identity.epoch) return { ok: false, problem: 'expired' };
  return from > head ? malformed : { ok: true, token: { head, from } };
}
