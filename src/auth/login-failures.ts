import { loginFailureWindowMs, loginFailuresCountedMax, loginFailuresInAllMax, loginFailuresMax } from '../limits/access.ts';

type Count = { attempts: number; readonly endsAt: number };

/** `isKnown`: the user has logged in from there. */
export type Attempt = { readonly username: string; readonly network: string; readonly isKnown: boolean };

/**
 * Failed log-ins in fixed windows: of a user from a network, from a network, and of a user from all networks that are not
 * known for them. An attempt counts from its beginning and is taken back when it succeeds, so that many at once do not slip
 * past the bound together.
 */
export class LoginFailures {
  /** In the order their windows end. */
  readonly #counts = new Map<string, Count>();

  /** Seconds until such an attempt is allowed; 0 when it is now. */
  waitSeconds(attempt: Attempt, now: number): number {
    const waits = boundsOf(attempt).map(({ key, max }) => {
      const count = this.#current(key, now);
      return count === undefined || count.attempts < max ? 0 : Math.max(1, Math.ceil((count.endsAt - now) / 1_000));
    });
    return Math.max(...waits);
  }

  /** It is allowed and begins. */
  begin(attempt: Attempt, now: number): void {
    for (const { key } of boundsOf(attempt)) {
      const count = this.#current(key, now);
      if (count === undefined) this.#open(key, now);
      else count.attempts += 1;
    }
  }

  /** It was no failure. */
  takeBack(attempt: Attempt, now: number): void {
    for (const { key } of boundsOf(attempt)) {
      const count = this.#current(key, now);
      // Its window may have ended meanwhile, and a new one begun without it.
      if (count !== undefined && count.attempts > 0) count.attempts -= 1;
    }
  }

  #current(key: string, now: number): Count | undefined {
    const count = this.#counts.get(key);
    if (count === undefined || count.endsAt > now) return count;
    this.#counts.delete(key);
    return undefined;
  }

  #open(key: string, now: number): void {
    const oldest = this.#counts.size >= loginFailuresCountedMax ? this.#counts.keys().next() : undefined;
    if (oldest?.done === false) this.#counts.delete(oldest.value);
    this.#counts.set(key, { attempts: 1, endsAt: now + loginFailureWindowMs });
  }
}

type Bound = { readonly key: string; readonly max: number };

function boundsOf({ username, network, isKnown }: Attempt): readonly Bound[] {
  const user = username.slice(0, 253);
  const bounds = [
    { key: `user at ${network}: ${user}`, max: loginFailuresMax },
    { key: `network ${network}`, max: loginFailuresInAllMax },
  ];
  return isKnown ? bounds : [...bounds, { key: `user ${user}`, max: loginFailuresInAllMax }];
}
