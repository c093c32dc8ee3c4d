import { hash } from 'node:crypto';

import { decodeJson } from '../../base/json.ts';
import { logPosition, streamRevision, type LogPosition, type StreamRevision } from '../../log/log.ts';

/**
 * The continuation of a chain of pages of an object's history. Like that of a list it is neither secret nor a
 * permission: it is bound to the query, and everything in it is checked.
 */
export type HistoryToken = {
  /** The first page's position, which all pages report. */
  readonly position: LogPosition;
  /** The last revision that the chain shows. */
  readonly through: StreamRevision;
  /** The revision at which the page begins. */
  readonly next: StreamRevision;
};

/** What a token is bound to: the log, the object's stream, and the parameters that choose the entries. */
export type HistoryIdentity = readonly (string | undefined)[];

const positionText = /^[1-9][0-9]{0,23}$/u;

export function encodeHistoryToken({ position, through, next }: HistoryToken, identity: HistoryIdentity): string {
  const plain = [hashOf(identity), position.toString(), through, next];
  return Buffer.from(JSON.stringify(plain)).toString('base64url');
}

/** Undefined for what is no token of this query. */
export function decodeHistoryToken(text: string, identity: HistoryIdentity): HistoryToken | undefined {
  if (!/^[A-Za-z0-9_-]{1,256}$/u.test(text)) return undefined;
  const decoded = decodeJson(Buffer.from(text, 'base64url'), { depthMax: 1 });
  if (!decoded.ok || !Array.isArray(decoded.value) || decoded.value.length !== 4) return undefined;
  const parts: readonly unknown[] = decoded.value;
  const [query, position, through, next] = parts;
  if (query !== hashOf(identity) || typeof position !== 'string' || !positionText.test(position)) return undefined;
  if (!isRevision(through) || !isRevision(next) || next > through) return undefined;
  return {
    position: logPosition(BigInt(position)),
    through: streamRevision(through),
    next: streamRevision(next),
  };
}

function isRevision(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function hashOf(identity: HistoryIdentity): string {
  return hash('sha256', JSON.stringify(identity), 'base64url').slice(0, 22);
}
