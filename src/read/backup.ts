/** The port of backups of the log. */

/** `name`: the folder in BACKUP_DIR; undefined for a folder with the name of the log and its epoch. */
export type BackupRequest = {
  readonly name: string | undefined;
  /** Aborts when no caller waits for the answer any more. */
  readonly signal: AbortSignal;
};

export type BackupRefusalReason =
  'bad-request' | 'not-found' | 'already-exists' | 'insufficient-storage' | 'unavailable' | 'too-many-requests';

export type BackupRefusal = { readonly ok: false; readonly reason: BackupRefusalReason; readonly detail: string };

/**
 * JSON lines, each with its `kind`: `Progress`, and one `Result` or `Failure` at the end. The iteration must be
 * started; when it is abandoned, the backup ends and its files are removed.
 */
export type BackupAnswer = { readonly ok: true; readonly lines: AsyncIterable<Uint8Array> };

export type Backer = { start(request: BackupRequest): Promise<BackupAnswer | BackupRefusal> };
