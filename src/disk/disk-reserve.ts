import { statfs } from 'node:fs/promises';

import { showByteCount } from '../base/byte-count.ts';
import type { Clock, Timer } from '../base/clock.ts';
import {
  diskEventCopies,
  diskEventOverheadBytes,
  diskLookMs,
  diskReserveBytesMax,
  diskReserveLogInShare,
  diskReserveMarginShare,
  diskReserveShareMax,
  scarceLogIns,
} from '../limits/disk.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';
import type { WriterDisk } from '../write/admission/disk-admission.ts';
import { TokenBucket } from '../write/admission/token-bucket.ts';
import { spaceOf, type DiskSpace } from './disk-space.ts';

export type DiskReserveOptions = {
  /** A directory on the file system with the reserve. */
  readonly dir: string;
  /** The free bytes to reserve. 0 disables the reserve; undefined means 5 % of the file system, but at most 1 GiB. */
  readonly reserveBytes: number | undefined;
  readonly clock: Clock;
  readonly log: Pick<PluginLogger, 'info' | 'warn'>;
  /** Reads the free space; by default with `statfs`. */
  readonly readSpace?: (dir: string) => Promise<DiskSpace>;
};

/**
 * Reserves a part of the disk for deletions and for the platform. Writers query the state and report the bytes that
 * they write. The free space is read once a second. The newest reading may miss bytes that were reported just before
 * it, so all bytes since the second newest reading are subtracted.
 */
export class DiskReserve implements WriterDisk {
  readonly #options: DiskReserveOptions;
  readonly #measure: (dir: string) => Promise<DiskSpace>;
  readonly #logIns: TokenBucket;
  readonly reserveBytes: number;
  /** The free bytes at the last reading. */
  #freeBytes: number;
  #writtenBefore = 0;
  #writtenSince = 0;
  #isShort = false;
  #isMeasureFailing = false;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(first: DiskSpace, options: DiskReserveOptions) {
    this.#options = options;
    this.#logIns = new TokenBucket(scarceLogIns, options.clock.monotonic());
    this.#measure = options.readSpace ?? (async (dir) => spaceOf(await statfs(dir)));
    this.reserveBytes = reserveOf(first, options.reserveBytes);
    this.#freeBytes = first.freeBytes;
    this.#update();
    this.#measureLater();
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  isShort(): boolean {
    return this.#isShort;
  }

  isScarce(): boolean {
    return this.#isShort && this.#leftBytes() < this.reserveBytes * diskReserveLogInShare;
  }

  takeLogIn(): boolean {
    return this.#logIns.take(1, this.#options.clock.monotonic()) === 0;
  }

  take(eventBytes: number): void {
    this.#writtenSince += diskEventCopies * eventBytes + diskEventOverheadBytes;
    if (!this.#isShort && this.#leftBytes() < this.reserveBytes) this.#update();
  }

  /**
   * Returns whether a write of `bytes` leaves the reserve free; always true without a reserve. If true, counts the
   * bytes as written.
   */
  claim(bytes: number): boolean {
    if (this.reserveBytes > 0 && (this.#isShort || this.#leftBytes() - bytes < this.reserveBytes)) return false;
    this.#writtenSince += bytes;
    return true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #leftBytes(): number {
    return this.#freeBytes - this.#writtenBefore - this.#writtenSince;
  }

  #update(): void {
    const left = this.#leftBytes();
    const isShort = left < this.reserveBytes * (this.#isShort ? 1 + diskReserveMarginShare : 1);
    if (isShort === this.#isShort || this.reserveBytes === 0) return;
    this.#isShort = isShort;
    const { dir, log } = this.#options;
    const fields = { dir, freeBytes: this.#freeBytes, reserveBytes: this.reserveBytes };
    const wanted = showByteCount(Math.ceil(this.reserveBytes * (1 + diskReserveMarginShare)));
    if (isShort)
      log.warn(
        `the disk is nearly full: clients' writes other than deletions are refused until ${wanted} are free`,
        fields,
      );
    else log.info('the disk has enough free space again: all writes are accepted', fields);
  }

  #measureLater(): void {
    this.#timer = this.#options.clock.after(diskLookMs, () => {
      void this.#measureNow();
    });
  }

  async #measureNow(): Promise<void> {
    const written = this.#writtenSince;
    try {
      const { freeBytes } = await this.#measure(this.#options.dir);
      this.#freeBytes = freeBytes;
      this.#writtenBefore = written;
      this.#writtenSince -= written;
      this.#isMeasureFailing = false;
      if (!this.#isStopped) this.#update();
    } catch (error) {
      // The last known free space remains in use, minus the bytes written since.
      const { log } = this.#options;
      if (!this.#isMeasureFailing)
        log.warn('cannot read the free space of DATA_DIR; retrying', { error: String(error) });
      this.#isMeasureFailing = true;
    }
    if (!this.#isStopped) this.#measureLater();
  }
}

/** Returns the reserve in bytes: the configured value, or the default for the disk. */
export function reserveOf({ totalBytes }: DiskSpace, configured: number | undefined): number {
  return configured ?? Math.min(Math.floor(totalBytes * diskReserveShareMax), diskReserveBytesMax);
}
