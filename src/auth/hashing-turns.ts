import type { Clock } from '../base/clock.ts';
import { siteOf } from '../base/network-of.ts';
import { SlidingCounts } from '../base/sliding-counts.ts';
import { TurnQueue } from '../base/turn-queue.ts';
import {
  passwordHashesAskedMax, passwordHashesAskedMs, passwordHashesAskedPerSiteMax, passwordHashesMax,
  passwordHashesWaitingMax, passwordHashesWaitingPerNetworkMax, passwordHashWaitMs,
} from '../limits/access.ts';

/** For whom a password is hashed. */
export type Turn = {
  readonly network: string;
  /** The user has logged in from there before, or is logged in. */
  readonly isKnown: boolean;
  /** Aborts when the client does not wait any more. */
  readonly signal?: AbortSignal | undefined;
};

/** `work` has not begun: there was no place for it, or the client has gone. */
export type TurnedAway = { readonly done: false; readonly isGone: boolean; readonly retryAfterSeconds: number };
export type Turned<Result> = { readonly done: true; readonly result: Result } | TurnedAway;

type Waiting = { readonly network: string; readonly start: () => void; readonly turnAway: () => void };
type Lane = TurnQueue<string, Waiting>;

/** How much one new hash counts in the average time of a hash. */
const newestShare = 1 / 8;

/**
 * A bounded number of hashes at once. The others wait in one of two lanes, which take turns: known networks and unknown
 * ones, so that neither can shut out the other. Within a lane the network comes first whose site asked least of late,
 * with or without success, so a client that comes for the first time passes all those that try again and again. A lane
 * has as many places as are served within `passwordHashWaitMs`, by what a hash takes at present; nothing waits longer.
 */
export class HashingTurns {
  readonly #clock: Clock;
  readonly #known: Lane = new TurnQueue();
  readonly #unknown: Lane = new TurnQueue();
  /** By site, what was hashed and what was turned away. */
  readonly #asked = new SlidingCounts({
    windowMs: passwordHashesAskedMs, keysMax: passwordHashesAskedMax, eventsMax: passwordHashesAskedPerSiteMax,
  });
  #running = 0;
  #hashMs = 0;
  #isUnknownsTurn = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Turned<Result>> {
    if (hasGone(turn)) return this.#away(turn);
    const isFree = this.#running < passwordHashesMax;
    if (isFree) this.#running += 1;
    const isStarted = isFree || await this.#wait(turn);
    const begun = this.#clock.monotonic();
    this.#asked.add(siteOf(turn.network), begun);
    if (!isStarted) return this.#away(turn);
    try {
      return { done: true, result: await work() };
    } finally {
      const tookMs = this.#clock.monotonic() - begun;
      this.#hashMs += (tookMs - this.#hashMs) * (this.#hashMs === 0 ? 1 : newestShare);
      // The place is handed over, so that nobody slips in between.
      if (!this.#startNext()) this.#running -= 1;
    }
  }

  /** How many wait. */
  get waiting(): number {
    return this.#known.size + this.#unknown.size;
  }

  async #wait({ network, isKnown, signal }: Turn): Promise<boolean> {
    const lane = isKnown ? this.#known : this.#unknown;
    if (lane.sizeOf(network) >= passwordHashesWaitingPerNetworkMax) return false;
    if (lane.size >= this.#places() && !this.#makeRoom(lane, network)) return false;
    return new Promise((resolve) => {
      const end = (isStarted: boolean): void => {
        timer.cancel();
        signal?.removeEventListener('abort', leave);
        resolve(isStarted);
      };
      const waiting: Waiting = { network, start: () => { end(true); }, turnAway: () => { end(false); } };
      const leave = (): void => { if (lane.remove(network, waiting)) end(false); };
      const timer = this.#clock.after(passwordHashWaitMs, leave);
      signal?.addEventListener('abort', leave, { once: true });
      lane.add(network, waiting);
    });
  }

  /** Of one lane, where both have every second turn: what is served within the longest wait. */
  #places(): number {
    if (this.#hashMs === 0) return passwordHashesWaitingMax;
    const served = Math.floor(passwordHashWaitMs * passwordHashesMax / (2 * this.#hashMs));
    return Math.min(passwordHashesWaitingMax, Math.max(passwordHashesMax, served));
  }

  /** Turns away the latest of the network that would be served last, unless the caller would be served after it. */
  #makeRoom(lane: Lane, asking: string): boolean {
    let [last, most]: [string | undefined, number] = [undefined, this.#order(lane, asking) + 1];
    for (const network of lane.accounts()) {
      const order = this.#order(lane, network);
      if (order > most) [last, most] = [network, order];
    }
    if (last === undefined) return false;
    lane.takeLatest(last)?.turnAway();
    return true;
  }

  /** What it asked for of late and what waits: the more, the later is the network's next one. */
  #order(lane: Lane, network: string): number {
    return this.#askedOf(network) + lane.sizeOf(network);
  }

  #askedOf(network: string): number {
    return this.#asked.count(siteOf(network), this.#clock.monotonic());
  }

  #startNext(): boolean {
    const [first, second] = this.#isUnknownsTurn ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    const lane = first.size > 0 ? first : second;
    const next = this.#nextOf(lane);
    if (next === undefined) return false;
    this.#isUnknownsTurn = lane === this.#known;
    next.start();
    return true;
  }

  #nextOf(lane: Lane): Waiting | undefined {
    let [first, fewest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const network of lane.accounts()) {
      const asked = this.#askedOf(network);
      if (asked < fewest) [first, fewest] = [network, asked];
    }
    return first === undefined ? undefined : lane.takeOf(first);
  }

  /** Once all that wait now have had their turn, there is room again. */
  #away(turn: Turn): TurnedAway {
    const drainedMs = (this.waiting + this.#running) * this.#hashMs / passwordHashesMax;
    return { done: false, isGone: hasGone(turn), retryAfterSeconds: Math.max(1, Math.ceil(drainedMs / 1_000)) };
  }
}

function hasGone({ signal }: Turn): boolean {
  return signal?.aborted === true;
}
