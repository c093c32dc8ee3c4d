import type { Clock } from '../../base/clock.ts';
import { sessionUseRecordMs, tokenUseRecordMs, usesRememberedMax } from '../../limits/access.ts';
import { makeRoom } from './make-room.ts';

/** A kind of credential with recorded uses. */
type UsedKind = 'token' | 'session';

/** Records the use of the token or session with the given name. */
export type RecordUse = Readonly<Record<UsedKind, (name: string) => void>>;

const intervalsMs: Readonly<Record<UsedKind, number>> = { token: tokenUseRecordMs, session: sessionUseRecordMs };

/** Limits how often the uses of one token or session are recorded. */
export class CredentialUses {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #record: RecordUse;
  /** The monotonic time of the last recorded use, by uid, oldest first. */
  readonly #recorded = new Map<string, number>();

  constructor({ clock, recordUse }: { readonly clock: Pick<Clock, 'monotonic'>; readonly recordUse: RecordUse }) {
    this.#clock = clock;
    this.#record = recordUse;
  }

  record(kind: UsedKind, uid: string, name: string): void {
    const now = this.#clock.monotonic();
    const last = this.#recorded.get(uid);
    if (last !== undefined && now - last < intervalsMs[kind]) return;
    this.#recorded.delete(uid);
    makeRoom(this.#recorded, usesRememberedMax);
    this.#recorded.set(uid, now);
    this.#record[kind](name);
  }
}
