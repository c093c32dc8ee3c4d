import type { BackupRefusalReason } from '../../read/backup.ts';

/** The backup cannot be made or restored, for a reason that the sender of the request or the operator can change. */
export class BackupRefusedError extends Error {
  readonly reason: BackupRefusalReason;

  constructor(reason: BackupRefusalReason, detail: string) {
    super(detail);
    this.name = 'BackupRefusedError';
    this.reason = reason;
  }
}

/** The client that requested the backup has disconnected, or the server stops. */
export class BackupStoppedError extends Error {
  constructor() {
    super('the backup was stopped before its end');
    this.name = 'BackupStoppedError';
  }
}

/** A file of a backup differs from the file that was written, or is missing. */
export class BackupDamagedError extends Error {
  /** `where`: the file name, with the byte offset in the file if the offset is known. */
  constructor(where: string, detail: string, options?: ErrorOptions) {
    super(`the backup is damaged: ${where}: ${detail}`, options);
    this.name = 'BackupDamagedError';
  }
}
