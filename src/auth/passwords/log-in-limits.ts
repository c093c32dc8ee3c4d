import { networkOf } from '../../base/network-of.ts';
import { SlidingCounts } from '../../base/sliding-counts.ts';
import {
  logInFailureWindowMs,
  logInFailuresCountedMax,
  logInFailuresInAllMax,
  logInFailuresMax,
  logInGuessesMax,
} from '../../limits/access.ts';

/** `isKnown`: the user has logged in from this network before. */
export type Attempt = Site & { readonly isKnown: boolean };
type Site = {
  readonly username: string;
  readonly network: string;
};

/**
 * Counts the failed log-ins of the last minute for `password-log-ins.ts`: by user and network, by network, and by user
 * over all networks that are not known for the user. An attempt is counted when it starts, and is no longer counted
 * when it succeeds, so that concurrent attempts cannot exceed the limit together.
 */
export class LogInFailures {
  readonly #counts = new SlidingCounts({
    windowMs: logInFailureWindowMs,
    keysMax: logInFailuresCountedMax,
    eventsMax: logInFailuresInAllMax,
  });

  /**
   * The number of wrong guesses by user and network. A guess is counted even if the log-in is refused, because the
   * password has already been compared with the cached one.
   */
  readonly #guesses = new SlidingCounts({
    windowMs: logInFailureWindowMs,
    keysMax: logInFailuresCountedMax,
    eventsMax: logInGuessesMax,
  });
  /** The monotonic time until which at least one user and network may have too many guesses. */
  #manyUntil = 0;

  /** Returns the seconds until an attempt of this user from this network is allowed; 0 if it is allowed now. */
  waitSeconds(attempt: Attempt, now: number): number {
    const waits = boundsOf(attempt).map(({ key, max }) => this.#counts.waitMs(key, max, now));
    return Math.ceil(Math.max(this.#guesses.waitMs(siteOf(attempt), logInGuessesMax, now), ...waits) / 1_000);
  }

  /**
   * Counts a password that is not the cached password. Returns a function with which the caller removes the guess if
   * the password is correct. At the limit, passwords are no longer compared with the cached one, so no guess is
   * counted.
   */
  guess(attempt: Site, now: number): () => void {
    const site = siteOf(attempt);
    const count = this.#guesses.count(site, now);
    if (count >= logInGuessesMax) return () => undefined;
    this.#guesses.add(site, now);
    if (count + 1 >= logInGuessesMax) this.#manyUntil = now + logInFailureWindowMs;
    return () => {
      this.#guesses.takeBack(site, now);
    };
  }

  /** Whether the cached password of the user is disabled for this address. */
  isGuessed(username: string, address: string, now: number): boolean {
    // This cheap check is first, because every request calls this function and there are usually no guesses.
    if (now >= this.#manyUntil) return false;
    return this.#guesses.waitMs(siteOf({ username, network: networkOf(address) }), logInGuessesMax, now) > 0;
  }

  /**
   * Counts an allowed attempt when it starts. Returns a function with which the caller removes the attempt after a
   * success.
   */
  begin(attempt: Attempt, now: number): () => void {
    const keys = boundsOf(attempt).map(({ key }) => key);
    for (const key of keys) this.#counts.add(key, now);
    return () => {
      for (const key of keys) this.#counts.takeBack(key, now);
    };
  }
}

type Bound = {
  readonly key: string;
  readonly max: number;
};

function siteOf({ username, network }: Site): string {
  return `user at ${network}: ${username.slice(0, 253)}`;
}

function boundsOf({ username, network, isKnown }: Attempt): readonly Bound[] {
  const user = username.slice(0, 253);
  const bounds = [
    { key: siteOf({ username, network }), max: logInFailuresMax },
    { key: `network ${network}`, max: logInFailuresInAllMax },
  ];
  return isKnown ? bounds : [...bounds, { key: `user ${user}`, max: logInFailuresInAllMax }];
}
