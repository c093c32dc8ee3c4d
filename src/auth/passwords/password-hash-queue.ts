import type { Clock } from '../../base/clock.ts';
import { siteOf } from '../../base/network-of.ts';
import { SlidingCounts } from '../../base/sliding-counts.ts';
import { TurnQueue } from '../../base/turn-queue.ts';
import {
  passwordHashRequestSitesMax,
  passwordHashRequestsWindowMs,
  passwordHashRequestsPerSiteMax,
  passwordHashesMax,
  passwordHashesWaitingMax,
  passwordHashesWaitingPerNetworkMax,
  passwordHashWaitMs,
} from '../../limits/access.ts';

/** A client's request for a password hash. */
export type HashRequest = {
  readonly network: string;
  /** Whether the user has logged in from this network before, or is logged in. */
  readonly isKnown: boolean;
  /** Aborts when the client no longer waits. */
  readonly signal?: AbortSignal | undefined;
};

/** A rejected request for a hash: the queue was full, the wait took too long, or the client disconnected. */
export type HashRejected = {
  readonly done: false;
  readonly isDisconnected: boolean;
  readonly retryAfterSeconds: number;
};
export type HashResult<Result> = { readonly done: true; readonly result: Result } | HashRejected;

type Waiting = {
  readonly network: string;
  readonly start: () => void;
  readonly reject: () => void;
};
type Lane = TurnQueue<string, Waiting>;

/** The weight of the newest duration in the moving average of the durations of hashes. */
const newestShare = 1 / 8;

/**
 * Limits the number of concurrent hashes. Further requests wait in two lanes, for known and for unknown networks. The
 * lanes alternate. Within a lane, the network with the fewest recent requests of its site is served first. A new client
 * thus overtakes clients that retry. The site is an IPv4 address, or the /48 of an IPv6 network.
 *
 * No request waits longer than `passwordHashWaitMs`, and a lane holds about as many requests as can be served in this
 * time.
 */
export class PasswordHashQueue {
  readonly #clock: Clock;
  readonly #known: Lane = new TurnQueue();
  readonly #unknown: Lane = new TurnQueue();
  /** The number of recent requests by site, including rejected requests. */
  readonly #recent = new SlidingCounts({
    windowMs: passwordHashRequestsWindowMs,
    keysMax: passwordHashRequestSitesMax,
    eventsMax: passwordHashRequestsPerSiteMax,
  });
  #running = 0;
  #hashMs = 0;
  #isUnknownsTurn = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async run<Result>(turn: HashRequest, work: () => Promise<Result>): Promise<HashResult<Result>> {
    if (hasDisconnected(turn)) return this.#reject(turn);
    const isFree = this.#running < passwordHashesMax;
    if (isFree) this.#running += 1;
    const isStarted = isFree || (await this.#wait(turn));
    const begun = this.#clock.monotonic();
    this.#recent.add(siteOf(turn.network), begun);
    if (!isStarted) return this.#reject(turn);
    try {
      return { done: true, result: await work() };
    } finally {
      const tookMs = this.#clock.monotonic() - begun;
      this.#hashMs += (tookMs - this.#hashMs) * (this.#hashMs === 0 ? 1 : newestShare);
      // The slot passes to the next request directly, so that no other request can take the slot.
      if (!this.#startNext()) this.#running -= 1;
    }
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#known.size + this.#unknown.size;
  }

  async #wait({ network, isKnown, signal }: HashRequest): Promise<boolean> {
    const lane = isKnown ? this.#known : this.#unknown;
    if (lane.sizeOf(network) >= passwordHashesWaitingPerNetworkMax) return false;
    if (lane.size >= this.#laneCapacity() && !this.#makeRoom(lane, network)) return false;
    return new Promise((resolve) => {
      const end = (isStarted: boolean): void => {
        timer.cancel();
        signal?.removeEventListener('abort', leave);
        resolve(isStarted);
      };
      const waiting: Waiting = {
        network,
        start: () => {
          end(true);
        },
        reject: () => {
          end(false);
        },
      };
      const leave = (): void => {
        if (lane.remove(network, waiting)) end(false);
      };
      const timer = this.#clock.after(passwordHashWaitMs, leave);
      signal?.addEventListener('abort', leave, { once: true });
      lane.add(network, waiting);
    });
  }

  /**
   * Returns the number of requests that may wait in one lane: as many as can be served within `passwordHashWaitMs`, if
   * the other lane gets every second slot.
   */
  #laneCapacity(): number {
    if (this.#hashMs === 0) return passwordHashesWaitingMax;
    const served = Math.floor((passwordHashWaitMs * passwordHashesMax) / (2 * this.#hashMs));
    return Math.min(passwordHashesWaitingMax, Math.max(passwordHashesMax, served));
  }

  /**
   * Makes room for a request of the network `caller`. Rejects the latest request of the network that would be served
   * last. Returns false, and rejects nothing, if no network would be served later than `caller`.
   */
  #makeRoom(lane: Lane, caller: string): boolean {
    let [last, most]: [string | undefined, number] = [undefined, this.#order(lane, caller) + 1];
    for (const network of lane.accounts()) {
      const order = this.#order(lane, network);
      if (order > most) [last, most] = [network, order];
    }
    if (last === undefined) return false;
    lane.takeLatest(last)?.reject();
    return true;
  }

  /**
   * Returns the rank of a network: the recent requests of its site, plus its waiting requests. A network with a higher
   * rank is served later.
   */
  #order(lane: Lane, network: string): number {
    return this.#recentOf(network) + lane.sizeOf(network);
  }

  #recentOf(network: string): number {
    return this.#recent.count(siteOf(network), this.#clock.monotonic());
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
      const recent = this.#recentOf(network);
      if (recent < fewest) [first, fewest] = [network, recent];
    }
    return first === undefined ? undefined : lane.takeOf(first);
  }

  /** `retryAfterSeconds` is the estimated time until all waiting requests are served. */
  #reject(turn: HashRequest): HashRejected {
    const drainedMs = ((this.waiting + this.#running) * this.#hashMs) / passwordHashesMax;
    return {
      done: false,
      isDisconnected: hasDisconnected(turn),
      retryAfterSeconds: Math.max(1, Math.ceil(drainedMs / 1_000)),
    };
  }
}

function hasDisconnected({ signal }: HashRequest): boolean {
  return signal?.aborted === true;
}
