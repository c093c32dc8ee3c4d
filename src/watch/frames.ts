import { watchFrameOverheadBytes } from '../limits/watches.ts';

/**
 * Whole frames in one buffer, which any number of queues may hold. Knows by which accounts it is held and how often, so
 * that each counts it once.
 */
export class Frames {
  readonly bytes: Uint8Array;
  readonly #onFree: (() => void) | undefined;
  /** Most frames are held by one account only: a map for each would cost more than writing it does. */
  #account: object | undefined;
  #holds = 0;
  #others: Map<object, number> | undefined;

  /** `onFree`: the last hold was given back. */
  constructor(bytes: Uint8Array, onFree?: () => void) {
    this.bytes = bytes;
    this.#onFree = onFree;
  }

  /** What holding it costs, whoever does and however often. */
  get heldBytes(): number {
    return this.bytes.length + watchFrameOverheadBytes;
  }

  /** By whom it is held first with this hold. */
  hold(account: object): 'anybody' | 'account' | 'neither' {
    if (this.#account === account) {
      this.#holds += 1;
      return 'neither';
    }
    if (this.#account === undefined) {
      this.#account = account;
      this.#holds = 1;
      return this.#others === undefined ? 'anybody' : 'account';
    }
    this.#others ??= new Map<object, number>();
    const held = this.#others.get(account) ?? 0;
    this.#others.set(account, held + 1);
    return held === 0 ? 'account' : 'neither';
  }

  /** Gives a hold back: by whom it is held no more. */
  release(account: object): 'anybody' | 'account' | 'neither' {
    if (this.#account !== account) {
      if (this.#releaseOther(account) > 0) return 'neither';
    } else {
      this.#holds -= 1;
      if (this.#holds > 0) return 'neither';
      this.#account = undefined;
    }
    if (this.#account !== undefined || this.#others !== undefined) return 'account';
    this.#onFree?.();
    return 'anybody';
  }

  /** How often it still holds it. */
  #releaseOther(account: object): number {
    const left = (this.#others?.get(account) ?? 1) - 1;
    if (left > 0) this.#others?.set(account, left);
    else this.#others?.delete(account);
    if (this.#others?.size === 0) this.#others = undefined;
    return left;
  }
}
