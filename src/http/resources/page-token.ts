import { hash } from 'node:crypto';

import { decodeJson } from '../../base/json.ts';
import { logPosition, type LogPosition } from '../../log/log.ts';

/** Encodes the parts of a continuation token. A client can forge a token, so the decoder must check every part. */
export function encodeParts(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

type TokenShape = {
  readonly count: number;
  readonly depthMax: number;
};

/** Decodes a token of `count` parts. Returns undefined for any other text. */
export function decodeParts(text: string, { count, depthMax }: TokenShape): readonly unknown[] | undefined {
  if (!/^[A-Za-z0-9_-]+$/u.test(text)) return undefined;
  const decoded = decodeJson(Buffer.from(text, 'base64url'), { depthMax });
  return decoded.ok && Array.isArray(decoded.value) && decoded.value.length === count ? decoded.value : undefined;
}

/** Returns a hash that binds a token to its query. */
export function identityHash(identity: unknown): string {
  return hash('sha256', JSON.stringify(identity), 'base64url').slice(0, 22);
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

const positionText = /^[1-9][0-9]{0,23}$/u;

/** Returns undefined if the part is not the position of an event. */
export function positionOf(part: unknown): LogPosition | undefined {
  return typeof part === 'string' && positionText.test(part) ? logPosition(BigInt(part)) : undefined;
}
