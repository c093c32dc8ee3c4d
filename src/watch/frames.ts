import { watchFrameOverheadBytes } from '../limits/watches.ts';

/**
 * Complete frames in one buffer, which several queues may share. Each queue has a hold on the buffer. Holds are counted
 * by account, so that each account is charged once for the buffer.
 */
export class Frames {
  readonly bytes: Uint8Array;
  readonly #onFree: (() => void) | undefined;
  /**
   * One of the accounts with holds, and the number of its holds. `#others` has the holds of other accounts. Most
   * buffers have one account, and a map for each buffer would be expensive.
   */
  #account: object | undefined;
  #holds = 0;
  #others: Map<object, number> | undefined;

  /** `onFree` is called after the last hold was removed. */
  constructor(bytes: Uint8Array, onFree?: () => void) {
    this.bytes = bytes;
    this.#onFree = onFree;
  }

  /** The memory of the buffer in bytes, including its overhead. */
  get heldBytes(): number {
    return this.bytes.length + watchFrameOverheadBytes;
  }

  /**
   * Adds a hold. Returns the largest scope in which the hold is the first hold: all accounts (`anybody`), or the given
   * account (`account`).
   */
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

  /**
   * Removes a hold. Returns the largest scope in which the hold was the last hold: all accounts (`anybody`), or the
   * given account (`account`).
   */
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

  /** Removes a hold from `#others`, and returns the number of the account's remaining holds. */
  #releaseOther(account: object): number {
    const left = (this.#others?.get(account) ?? 1) - 1;
    if (left > 0) this.#others?.set(account, left);
    else this.#others?.delete(account);
    if (this.#others?.size === 0) this.#others = undefined;
    return left;
  }
}
