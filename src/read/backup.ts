/** The port of backups of the log. */

/** `name` is the name of the folder in BACKUP_DIR. If undefined, the name consists of the log's id and epoch. */
export type BackupRequest = {
  readonly name: string | undefined;
  /** Aborts when the caller no longer waits for the response. */
  readonly signal: AbortSignal;
};

export type BackupRefusalReason =
  'bad-request' | 'not-found' | 'already-exists' | 'insufficient-storage' | 'unavailable' | 'too-many-requests';

export type BackupRefusal = {
  readonly ok: false;
  readonly reason: BackupRefusalReason;
  readonly detail: string;
};

/**
 * A response of JSON lines. Each line has the `kind` `Progress`, except for a last line with `Result` or `Failure`. The
 * caller must start the iteration. An abandoned iteration ends the backup and removes its files.
 */
export type BackupAnswer = {
  readonly ok: true;
  readonly lines: AsyncIterable<Uint8Array>;
};

export type Backer = { start(request: BackupRequest): Promise<BackupAnswer | BackupRefusal> };
