import { streamRevision, type LogPosition, type StreamRevision } from '../../log/log.ts';
import { decodeParts, encodeParts, identityHash, isCount, positionOf } from './page-token.ts';

/** The continuation of a chain of pages of an object's history. A token is bound to its query, and grants no rights. */
export type HistoryToken = {
  /** The position of the first page, which all pages report. */
  readonly position: LogPosition;
  /** The last revision that the pages contain. */
  readonly through: StreamRevision;
  /** The revision at which the page begins. */
  readonly next: StreamRevision;
};

/** The query to which a token is bound: the log, the object's stream, and the parameters that select entries. */
export type HistoryIdentity = readonly (string | undefined)[];

const tokenLengthMax = 256;

export function encodeHistoryToken({ position, through, next }: HistoryToken, identity: HistoryIdentity): string {
  return encodeParts([identityHash(identity), position.toString(), through, next]);
}

/** Returns undefined if the text is not a token of this query. */
export function decodeHistoryToken(text: string, identity: HistoryIdentity): HistoryToken | undefined {
  if (text.length > tokenLengthMax) return undefined;
  const parts = decodeParts(text, { count: 4, depthMax: 1 });
  if (parts === undefined) return undefined;
  const [query, first, through, next] = parts;
  const position = positionOf(first);
  if (query !== identityHash(identity) || position === undefined) return undefined;
  if (!isCount(through) || !isCount(next) || next > through) return undefined;
  return { position, through: streamRevision(through), next: streamRevision(next) };
}
