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

/** The client of the backup has disconnected, or the server stops. */
export class BackupStoppedError extends Error {
  constructor() {
    super('the backup was stopped before its end');
    this.name = 'BackupStoppedError';
  }
}

/** The given keys have not signed the checkpoint of a backup, so the backup may be one of another server. */
export class BackupForeignError extends Error {
  constructor(folder: string, detail: string) {
    super(`${folder} cannot be verified with these keys: ${detail}`);
    this.name = 'BackupForeignError';
  }
}

/** A file of a backup is missing, or differs from the file that was written. */
export class BackupDamagedError extends Error {
  /** `where` is the file name, perhaps with the byte offset in the file. */
  constructor(where: string, detail: string, options?: ErrorOptions) {
    super(`the backup is damaged: ${where}: ${detail}`, options);
    this.name = 'BackupDamagedError';
  }
}
