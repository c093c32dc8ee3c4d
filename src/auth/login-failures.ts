import { SlidingCounts } from '../base/sliding-counts.ts';
import { loginFailureWindowMs, loginFailuresCountedMax, loginFailuresInAllMax, loginFailuresMax } from '../limits/access.ts';

/** `isKnown`: the user has logged in from there. */
export type Attempt = { readonly username: string; readonly network: string; readonly isKnown: boolean };

/**
 * Failed log-ins of the last minute: of a user from a network, from a network, and of a user from all networks that are
 * not known for them. An attempt counts from its beginning and is taken back when it succeeds, so that many at once do
 * not slip past the bound together.
 */
export class LoginFailures {
  readonly #counts = new SlidingCounts({
    windowMs: loginFailureWindowMs, keysMax: loginFailuresCountedMax, eventsMax: loginFailuresInAllMax,
  });

  /** Seconds until such an attempt is allowed; 0 when it is now. */
  waitSeconds(attempt: Attempt, now: number): number {
    const waits = boundsOf(attempt).map(({ key, max }) => this.#counts.waitMs(key, max, now));
    return Math.ceil(Math.max(...waits) / 1_000);
  }

  /** It is allowed and begins. Returns what takes it back, as it was no failure. */
  begin(attempt: Attempt, now: number): () => void {
    const keys = boundsOf(attempt).map(({ key }) => key);
    for (const key of keys) this.#counts.add(key, now);
    return () => { for (const key of keys) this.#counts.takeBack(key, now); };
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
