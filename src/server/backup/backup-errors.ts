import type { BackupRefusalReason } from '../../read/backup.ts';

/** The backup cannot be made or restored, for a reason that its sender or the operator can change. */
export class BackupRefusedError extends Error {
  readonly reason: BackupRefusalReason;

  constructor(reason: BackupRefusalReason, detail: string) {
    super(detail);
    this.name = 'BackupRefusedError';
    this.reason = reason;
  }
}

/** Nobody waits for the backup any more. */
export class BackupStoppedError extends Error {
  constructor() {
    super('the backup was stopped before its end');
    this.name = 'BackupStoppedError';
  }
}

/** Files of a backup are not as they were written. */
export class BackupDamagedError extends Error {
  /** `where`: the file, and the place in it if one is known. */
  constructor(where: string, detail: string, options?: ErrorOptions) {
    super(`the backup is damaged: ${where}: ${detail}`, options);
    this.name = 'BackupDamagedError';
  }
}
