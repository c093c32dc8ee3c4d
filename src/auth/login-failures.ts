import { loginFailureWindowMs, loginFailuresCountedMax, loginFailuresInAllMax, loginFailuresMax } from '../limits/access.ts';

type Count = { attempts: number; readonly endsAt: number };

/**
 * Failed log-ins by user and address, and by each of the two, in fixed windows. An attempt counts from its beginning and is taken back when it
 * succeeds, so that many at once do not slip past the bound together.
 */
export class LoginFailures {
  /** In the order their windows end. */
  readonly #counts = new Map<string, Count>();

  /** Seconds until another attempt is allowed; 0 when this one is, which it then counts. */
  begin(username: string, address: string, now: number): number {
    const keys = keysOf(username, address);
    for (const [place, key] of keys.entries()) {
      const count = this.#current(key, now);
      if (count !== undefined && count.attempts >= (place === 0 ? loginFailuresMax : loginFailuresInAllMax)) return Math.max(1, Math.ceil((count.endsAt - now) / 1_000));
    }
    for (const key of keys) {
      const count = this.#current(key, now);
      if (count === undefined) this.#open(key, now);
      else count.attempts += 1;
    }
    return 0;
  }

  /** It was no failure. */
  takeBack(username: string, address: string, now: number): void {
    for (const key of keysOf(username, address)) {
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

/** The narrowest first. */
function keysOf(username: string, address: string): readonly string[] {
  const user = username.slice(0, 253);
  return [`user at ${address}: ${user}`, `user ${user}`, `address ${address}`];
}
