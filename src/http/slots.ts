/** A bound on things that hold something scarce: whoever comes past it waits for one to be given back, in order. */
export class Slots {
  /** At most the bound. */
  #taken = 0;
  readonly #max: number;
  /** Those who wait, the first one first. Empty while a slot is free. */
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** A slot if one is free right now; nothing is awaited, so a synchronous reader stays one. */
  tryTake(): boolean {
    if (this.#taken >= this.#max) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves once this caller holds a slot. */
  async take(): Promise<void> {
    if (this.tryTake()) return;
    await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
