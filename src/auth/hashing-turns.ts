import { passwordHashesMax, passwordHashesWaitingMax, passwordHashesWaitingPerNetworkMax } from '../limits/access.ts';

/** In whose name a password is hashed. */
export type Turn = {
  readonly network: string;
  /** The user has logged in from there before, or is logged in: strangers, however many, leave it every second turn. */
  readonly isKnown: boolean;
};

type Waiting = { readonly start: () => void; readonly turnAway: () => void };

/** Networks in the order of their next turn, each with what waits, first come first served. */
type Lane = Map<string, Waiting[]>;

/** A bounded number of hashes at once, and a bounded number that wait. Networks are served in turn, one hash each. */
export class HashingTurns {
  readonly #known: Lane = new Map();
  readonly #strangers: Lane = new Map();
  #running = 0;
  #waiting = 0;
  #isStrangersTurn = false;

  /** Undefined where it is turned away: `work` has then not begun. */
  async run<Result>({ network, isKnown }: Turn, work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#running < passwordHashesMax) this.#running += 1;
    else if (!await this.#wait(isKnown ? this.#known : this.#strangers, network)) return undefined;
    try {
      return await work();
    } finally {
      // The place is handed over, so that nobody slips in between.
      if (!this.#startNext()) this.#running -= 1;
    }
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting;
  }

  async #wait(lane: Lane, network: string): Promise<boolean> {
    const queue = lane.get(network) ?? [];
    if (queue.length >= passwordHashesWaitingPerNetworkMax) return false;
    if (this.#waiting >= passwordHashesWaitingMax && !this.#makeRoom(queue.length)) return false;
    lane.set(network, queue);
    this.#waiting += 1;
    return new Promise((resolve) => { queue.push({ start: () => { resolve(true); }, turnAway: () => { resolve(false); } }); });
  }

  /** Takes the latest of the network that has the most, unless the one that asks has as many. */
  #makeRoom(asking: number): boolean {
    let longest: Waiting[] = [];
    for (const lane of [this.#known, this.#strangers]) for (const queue of lane.values()) if (queue.length > longest.length) longest = queue;
    if (longest.length <= asking + 1) return false;
    longest.pop()?.turnAway();
    this.#waiting -= 1;
    return true;
  }

  #startNext(): boolean {
    const lanes = this.#isStrangersTurn ? [this.#strangers, this.#known] : [this.#known, this.#strangers];
    const lane = lanes.find(({ size }) => size > 0);
    const [first] = lane ?? [];
    if (lane === undefined || first === undefined) return false;
    this.#isStrangersTurn = lane === this.#known;
    const [network, queue] = first;
    lane.delete(network);
    const next = queue.shift();
    if (queue.length > 0) lane.set(network, queue);
    this.#waiting -= 1;
    next?.start();
    return next !== undefined;
  }
}
