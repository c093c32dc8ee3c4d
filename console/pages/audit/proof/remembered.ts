import { base64, exactBase64 } from './bytes.ts';
import { membersOf, parsedJson } from '../events/json.ts';
import type { Checkpoint } from './signed-note.ts';

/** The last checkpoint that this browser has verified, and the public keys that this browser trusts, in base64. */
export type Remembered = {
  readonly checkpoint: Checkpoint;
  readonly keys: readonly string[];
  /** The time of the verification, in RFC 3339. */
  readonly time: string;
};

/**
 * The key in the browser's storage. Storage belongs to an origin, so each address of a server has its own checkpoint.
 */
const place = 'ledgerplane.checkpoint';

/** Returns undefined if the browser has stored nothing, or nothing readable. */
export function remembered(): Remembered | undefined {
  const { origin, size, root, keys, time } = membersOf(parsedJson(localStorage.getItem(place) ?? ''));
  const bytes = exactBase64(String(root));
  if (typeof origin !== 'string' || typeof size !== 'number' || bytes === undefined) return undefined;
  if (!Array.isArray(keys) || typeof time !== 'string') return undefined;
  return { checkpoint: { origin, size, root: bytes }, keys: keys.map(String), time };
}

type Stored = {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly keys: readonly string[];
  readonly time: string;
};

export function remember({ checkpoint: { origin, size, root }, keys, time }: Remembered): void {
  const stored: Stored = { origin, size, root: base64(root), keys, time };
  localStorage.setItem(place, JSON.stringify(stored));
}

export function forget(): void {
  localStorage.removeItem(place);
}
