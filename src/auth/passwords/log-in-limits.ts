import { networkOf } from '../../base/network-of.ts';
import { SlidingCounts } from '../../base/sliding-counts.ts';
import {
  loginFailureWindowMs,
  loginFailuresCountedMax,
  loginFailuresInAllMax,
  loginFailuresMax,
  loginGuessesMax,
} from '../../limits/access.ts';

/** `isKnown`: the user has logged in from this network before. */
export type Attempt = Site & { readonly isKnown: boolean };
type Site = { readonly username: string; readonly network: string };

/**
 * Failed log-ins of the last minute: by user and network, by network, and by user over all networks not known for that
 * user. An attempt counts from its start and is removed when it succeeds, so that many concurrent attempts cannot
 * exceed the limit together.
 */
export class LoginFailures {
  readonly #counts = new SlidingCounts({
    windowMs: loginFailureWindowMs,
    keysMax: loginFailuresCountedMax,
    eventsMax: loginFailuresInAllMax,
  });

  /**
   * Wrong guesses by user and network. A guess is compared with the cached password even if the log-in is then refused.
   */
  readonly #guesses = new SlidingCounts({
    windowMs: loginFailureWindowMs,
    keysMax: loginFailuresCountedMax,
    eventsMax: loginGuessesMax,
  });
  /** Until this time, at least one user and network may have too many guesses. */
  #manyUntil = 0;

  /** The seconds until such an attempt is allowed; 0 if it is allowed now. */
  waitSeconds(attempt: Attempt, now: number): number {
    const waits = boundsOf(attempt).map(({ key, max }) => this.#counts.waitMs(key, max, now));
    return Math.ceil(Math.max(this.#guesses.waitMs(siteOf(attempt), loginGuessesMax, now), ...waits) / 1_000);
  }

  /**
   * Counts a password that differs from the cached one. Returns a function that removes the guess if the password is
   * correct. Above the limit nothing is compared, so nothing is counted.
   */
  guess(attempt: Site, now: number): () => void {
    const site = siteOf(attempt);
    const count = this.#guesses.count(site, now);
    if (count >= loginGuessesMax) return () => undefined;
    this.#guesses.add(site, now);
    if (count + 1 >= loginGuessesMax) this.#manyUntil = now + loginFailureWindowMs;
    return () => {
      this.#guesses.takeBack(site, now);
    };
  }

  /** Whether the cached password of the user is disabled for this address. */
  isGuessed(username: string, address: string, now: number): boolean {
    // Every request calls this, and usually there are no guesses, so this check comes first.
    if (now >= this.#manyUntil) return false;
    return this.#guesses.waitMs(siteOf({ username, network: networkOf(address) }), loginGuessesMax, now) > 0;
  }

  /** Counts an attempt that is allowed and starts. Returns a function that removes the attempt after a success. */
  begin(attempt: Attempt, now: number): () => void {
    const keys = boundsOf(attempt).map(({ key }) => key);
    for (const key of keys) this.#counts.add(key, now);
    return () => {
      for (const key of keys) this.#counts.takeBack(key, now);
    };
  }
}

type Bound = { readonly key: string; readonly max: number };

function siteOf({ username, network }: Site): string {
  return `user at ${network}: ${username.slice(0, 253)}`;
}

function boundsOf({ username, network, isKnown }: Attempt): readonly Bound[] {
  const user = username.slice(0, 253);
  const bounds = [
    { key: siteOf({ username, network }), max: loginFailuresMax },
    { key: `network ${network}`, max: loginFailuresInAllMax },
  ];
  return isKnown ? bounds : [...bounds, { key: `user ${user}`, max: loginFailuresInAllMax }];
}
