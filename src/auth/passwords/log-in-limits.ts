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
 * Counts failed log-ins by user and network, by network, and by user over all unknown networks. An attempt counts from
 * its start until its success, so that concurrent attempts cannot exceed the limit together.
 */
export class LogInFailures {
  readonly #counts = new SlidingCounts({
    windowMs: logInFailureWindowMs,
    keysMax: logInFailuresCountedMax,
    eventsMax: logInFailuresInAllMax,
  });

  /**
   * The number of wrong passwords by user and network. The password of a refused log-in counts too, because it was
   * compared with the cached credentials before the refusal.
   */
  readonly #guesses = new SlidingCounts({
    windowMs: logInFailureWindowMs,
    keysMax: logInFailuresCountedMax,
    eventsMax: logInGuessesMax,
  });
  /**
   * The monotonic time from which no user and network has too many guesses. Then `isGuessed` need not look up the
   * guesses.
   */
  #manyUntil = 0;

  /** Returns the seconds until an attempt of this user from this network is allowed; 0 if allowed now. */
  waitSeconds(attempt: Attempt, now: number): number {
    const waits = boundsOf(attempt).map(({ key, max }) => this.#counts.waitMs(key, max, now));
    return Math.ceil(Math.max(this.#guesses.waitMs(siteOf(attempt), logInGuessesMax, now), ...waits) / 1_000);
  }

  /**
   * Counts a password that differs from the cached one. The caller calls the returned function if the password is
   * correct after all, for example because it was changed. At the limit, no password is compared with the cached one,
   * so none is counted.
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

  /** Returns whether the passwords of this user from this address must no longer be compared with the cached one. */
  isGuessed(username: string, address: string, now: number): boolean {
    // Each request calls this function, and usually there are no guesses.
    if (now >= this.#manyUntil) return false;
    return this.#guesses.waitMs(siteOf({ username, network: networkOf(address) }), logInGuessesMax, now) > 0;
  }

  /** Counts an allowed attempt at its start. The caller calls the returned function after a success. */
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
