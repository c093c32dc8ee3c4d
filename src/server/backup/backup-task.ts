import type { BackupRefusalReason } from '../../read/backup.ts';
import type { ThreadMessage } from '../threads/message-thread.ts';

export type SignedEnd = {
  readonly note: string;
  readonly position: number;
};

export type BackupTask = {
  /** The folder of the log, to which the server writes during the backup. */
  readonly logDir: string;
  readonly backupDir: string;
  readonly name: string;
  readonly identity: {
    readonly logId: string;
    readonly epoch: number;
    readonly domain: string;
  };
  /** The bytes of DISK_RESERVE; undefined for the default share of the disk. */
  readonly reserveBytes: number | undefined;
  readonly segmentBytesMax: number;
  /**
   * The signed checkpoint at the start of the backup, and the raw position of the last leaf in its tree. The backup
   * ends before the next leaf. A raw position lacks the offset of the epoch. `unsigned` is the reason for a missing
   * checkpoint; the backup then ends at the end of the log.
   */
  readonly checkpoint: SignedEnd | { readonly unsigned: string };
  /** A value other than 0 stops the thread. */
  readonly stop: Int32Array;
};

export type BackupSummary = {
  readonly folder: string;
  /** Whether this run added a backup. False if the log had no further events. */
  readonly written: boolean;
  /** The number of the newest backup in the folder; 0 for an empty folder. */
  readonly number: number;
  /** The number of events that this run added, and the bytes of their segments. */
  readonly events: number;
  readonly bytes: number;
  /** The raw position of the last event in the folder. */
  readonly position: number;
  /** `root` is in base64, as in checkpoints. */
  readonly tree: {
    readonly size: number;
    readonly root: string;
    readonly signed: boolean;
  };
  /** The reason why the newest backup in the folder has no signed checkpoint. */
  readonly unsigned?: string;
};

export type BackupMessage =
  | ThreadMessage<BackupRefusalReason>
  | {
      readonly kind: 'progress';
      readonly step: 'copying' | 'verifying';
      readonly position: number;
      readonly percent: number;
    }
  | { readonly kind: 'done'; readonly summary: BackupSummary };
