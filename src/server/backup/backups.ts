import { join } from 'node:path';

import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { backupSegmentBytesMax } from '../../limits/backup.ts';
import type { LogIdentity } from '../../log/log.ts';
import type { Backer, BackupAnswer, BackupRefusal, BackupRequest } from '../../read/backup.ts';
import { BackupThread } from './backup-thread.ts';
import type { BackupMessage, BackupTask } from './backup-task.ts';

export type BackupsOptions = {
  readonly config: Pick<Config, 'backupDir' | 'dataDir' | 'diskReserveBytes' | 'eventLog' | 'platformDomain'>;
  readonly clock: Clock;
  readonly identity: () => LogIdentity;
  /** Returns a new signed checkpoint after all acknowledged events, or the reason for a missing checkpoint. */
  readonly signedEnd: (signal: AbortSignal) => Promise<BackupTask['checkpoint']>;
};

const howToBackUpEventStore =
  'this server keeps its log in EventStoreDB, which has its own backup: copy its files in the documented order, or ' +
  'take a snapshot of its volume (docs/operating.md, Backup and restore)';
const howToSetUp =
  'backups are not set up: set BACKUP_DIR to a folder on another disk of the machine that runs the server, and ' +
  'restart it';

/** Backs up the embedded log, one request at a time. */
export class Backups implements Backer {
  readonly #options: BackupsOptions;
  #running: Promise<unknown> | undefined;
  readonly #stopping = new AbortController();

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  async start({ name, signal }: BackupRequest): Promise<BackupAnswer | BackupRefusal> {
    const { config } = this.#options;
    if (config.eventLog.kind !== 'embedded') return { ok: false, reason: 'not-found', detail: howToBackUpEventStore };
    if (config.backupDir === undefined) return { ok: false, reason: 'not-found', detail: howToSetUp };
    if (this.#running !== undefined)
      return { ok: false, reason: 'too-many-requests', detail: 'another backup is running: one runs at a time' };
    const begun = this.#begin(config.backupDir, { name, signal: AbortSignal.any([signal, this.#stopping.signal]) });
    this.#running = begun
      .then(async (run) => run.ended)
      .finally(() => {
        this.#running = undefined;
      });
    const run = await begun;
    const refused = await run.accepted();
    return refused ?? { ok: true, lines: run.lines() };
  }

  async #begin(backupDir: string, { name, signal }: BackupRequest): Promise<Run> {
    const { config, clock, identity, signedEnd } = this.#options;
    const { logId, epoch } = identity();
    const task = {
      logDir: join(config.dataDir, 'log'),
      backupDir,
      name: name ?? `${logId}-${String(epoch)}`,
      identity: { logId, epoch, domain: config.platformDomain },
      reserveBytes: config.diskReserveBytes,
      segmentBytesMax: backupSegmentBytesMax,
      checkpoint: await signedEnd(signal),
    };
    return new Run(task, { clock, signal });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

type RunOptions = { readonly clock: Clock; readonly signal: AbortSignal };

/** One backup, from the start of its thread to the last line of the response. */
class Run {
  readonly ended: Promise<void>;
  readonly #options: RunOptions;
  readonly #thread: BackupThread;
  #settle: () => void = () => undefined;

  constructor(task: Omit<BackupTask, 'stop'>, options: RunOptions) {
    this.#options = options;
    this.#thread = new BackupThread(task, options.clock);
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    options.signal.addEventListener('abort', () => {
      void this.stop();
    });
    if (options.signal.aborted) void this.stop();
  }

  /** Resolves when the request is accepted (undefined) or refused. */
  async accepted(): Promise<BackupRefusal | undefined> {
    const message = await this.#thread.next();
    if (message?.kind === 'accepted') return undefined;
    await this.stop();
    if (message?.kind === 'refused') return { ok: false, reason: message.reason, detail: message.detail };
    const detail = message?.kind === 'failed' ? message.detail : 'the backup was stopped';
    return { ok: false, reason: 'unavailable', detail };
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    try {
      for (let isOver = false; !isOver;) {
        const message = await this.#thread.next();
        const line = this.#lineOf(message);
        if (line !== undefined) yield lineOf(line);
        isOver = line?.kind === 'Result' || line?.kind === 'Failure';
      }
    } finally {
      await this.stop();
    }
  }

  async stop(): Promise<void> {
    await this.#thread.stop();
    this.#settle();
  }

  #lineOf(message: BackupMessage | undefined): Line | undefined {
    if (this.#options.signal.aborted || message === undefined)
      return { kind: 'Failure', message: 'the backup was stopped before its end' };
    switch (message.kind) {
      case 'progress':
        return { ...message, kind: 'Progress' };
      case 'done':
        return { kind: 'Result', ...message.summary };
      case 'failed':
        return { kind: 'Failure', message: message.detail };
      default:
        return undefined;
    }
  }
}

type Line = { readonly kind: 'Progress' | 'Result' | 'Failure' } & Readonly<Record<string, unknown>>;

function lineOf(value: Line): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
