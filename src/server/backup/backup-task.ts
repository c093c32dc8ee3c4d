import type { BackupRefusalReason } from '../../read/backup.ts';

export type SignedEnd = { readonly note: string; readonly position: number };

export type BackupTask = {
  /** The folder of the log, which the server writes meanwhile. */
  readonly logDir: string;
  readonly backupDir: string;
  readonly name: string;
  readonly identity: { readonly logId: string; readonly epoch: number; readonly domain: string };
  /** DISK_RESERVE; undefined: a share of the disk. */
  readonly reserveBytes: number | undefined;
  readonly segmentBytesMax: number;
  /**
   * What the server has signed when the backup began, and the raw position of its last leaf: the backup ends there.
   * Without it the backup ends with the log, and says why.
   */
  readonly checkpoint: SignedEnd | { readonly unsigned: string };
  /** Not 0 once the thread should end. */
  readonly stop: Int32Array;
};

export type BackupSummary = {
  /** The path of the folder. */
  readonly folder: string;
  /** False: the log has nothing that the last backup in the folder lacks. */
  readonly written: boolean;
  /** Of the last backup in the folder. */
  readonly number: number;
  /** What this backup has added: events and bytes of its segments. */
  readonly events: number;
  readonly bytes: number;
  /** The last position of the log in the folder. */
  readonly position: number;
  /** `root` in base64, as in checkpoints. */
  readonly tree: { readonly size: number; readonly root: string; readonly signed: boolean };
  /** Why this backup has no signed checkpoint. */
  readonly unsigned?: string;
};

/** From the thread. */
export type BackupMessage =
  /** Nothing was written: the request cannot be served. */
  | { readonly kind: 'refused'; readonly reason: BackupRefusalReason; readonly detail: string }
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'progress';
      readonly step: 'copying' | 'verifying';
      readonly position: number;
      readonly percent: number;
    }
  | { readonly kind: 'done'; readonly summary: BackupSummary }
  | { readonly kind: 'failed'; readonly detail: string };
