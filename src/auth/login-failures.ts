import { networkOf } from '../base/network-of.ts';
import { SlidingCounts } from '../base/sliding-counts.ts';
import { loginFailureWindowMs, loginFailuresCountedMax, loginFailuresInAllMax, loginFailuresMax, loginGuessesMax } from '../limits/access.ts';

/** `isKnown`: the user has logged in from there. */
export type Attempt = Site & { readonly isKnown: boolean };
type Site = { readonly username: string; readonly network: string };

/**
 * Failed log-ins of the last minute: of a user from a network, from a network, and of a user from all networks that are
 * not known for them. An attempt counts from its beginning and is taken back when it succeeds, so that many at once do
 * not slip past the bound together.
 */
export class LoginFailures {
  readonly #counts = new SlidingCounts({
    windowMs: loginFailureWindowMs, keysMax: loginFailuresCountedMax, eventsMax: loginFailuresInAllMax,
  });

  /** Of a user from a network: each is compared with what is remembered of them there, also where it is refused then. */
  readonly #guesses = new SlidingCounts({
    windowMs: loginFailureWindowMs, keysMax: loginFailuresCountedMax, eventsMax: loginGuessesMax,
  });
  /** Until when some of them may be too many. */
  #manyUntil = 0;

  /** Seconds until such an attempt is allowed; 0 when it is now. */
  waitSeconds(attempt: Attempt, now: number): number {
    const waits = boundsOf(attempt).map(({ key, max }) => this.#counts.waitMs(key, max, now));
    return Math.ceil(Math.max(this.#guesses.waitMs(siteOf(attempt), loginGuessesMax, now), ...waits) / 1_000);
  }

  /**
   * It is not what is remembered. Returns what takes it back, as it was right. Past the bound nothing is compared, and
   * so none is counted.
   */
  guess(attempt: Site, now: number): () => void {
    const site = siteOf(attempt);
    const count = this.#guesses.count(site, now);
    if (count >= loginGuessesMax) return () => undefined;
    this.#guesses.add(site, now);
    if (count + 1 >= loginGuessesMax) this.#manyUntil = now + loginFailureWindowMs;
    return () => { this.#guesses.takeBack(site, now); };
  }

  /** Whether what is remembered of the user there does not count now. */
  isGuessed(username: string, address: string, now: number): boolean {
    // Mostly nobody guesses, and this is asked with every request.
    if (now >= this.#manyUntil) return false;
    return this.#guesses.waitMs(siteOf({ username, network: networkOf(address) }), loginGuessesMax, now) > 0;
  }

  /** It is allowed and begins. Returns what takes it back, as it was no failure. */
  begin(attempt: Attempt, now: number): () => void {
    const keys = boundsOf(attempt).map(({ key }) => key);
    for (const key of keys) this.#counts.add(key, now);
    return () => { for (const key of keys) this.#counts.takeBack(key, now); };
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
