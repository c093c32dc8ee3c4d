/** The interface for backups of the log. */

/** `name`: the name of the folder in BACKUP_DIR. If undefined, the name consists of the log's id and epoch. */
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
 * A response of JSON lines. The `kind` of a line is `Progress`, and that of the last line is `Result` or `Failure`. The
 * caller must start the iteration. If the caller abandons the iteration, the backup ends and its files are removed.
 */
export type BackupAnswer = {
  readonly ok: true;
  readonly lines: AsyncIterable<Uint8Array>;
};

export type Backer = { start(request: BackupRequest): Promise<BackupAnswer | BackupRefusal> };
