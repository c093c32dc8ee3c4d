import { join } from 'node:path';

import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { jsonLine } from '../../base/json-line.ts';
import { backupHeapMegabytesMax, backupSegmentBytesMax } from '../../limits/backup.ts';
import type { LogIdentity } from '../../log/log.ts';
import type { Backer, BackupAnswer, BackupRefusal, BackupRefusalReason, BackupRequest } from '../../read/backup.ts';
import { MessageThread } from '../threads/message-thread.ts';
import { OneAtATime, type Run } from '../threads/one-at-a-time.ts';
import type { BackupMessage, BackupTask } from './backup-task.ts';
import { backupWorkerUrl } from './backup-worker.ts';
import { shownPosition } from './manifest.ts';

export type BackupsOptions = {
  readonly config: Pick<Config, 'backupDir' | 'dataDir' | 'diskReserveBytes' | 'eventLog' | 'platformDomain'>;
  readonly clock: Clock;
  readonly identity: () => LogIdentity;
  /** Returns a signed checkpoint of all acknowledged events, or the reason for a missing checkpoint. */
  readonly signedEnd: (signal: AbortSignal) => Promise<BackupTask['checkpoint']>;
};

const howToBackUpEventStore =
  'this server keeps its log in EventStoreDB, which has its own backup: copy its files in the documented order, or ' +
  'take a snapshot of its volume (docs/operating.md, Backup and restore)';
const howToSetUp =
  'backups are not set up: set BACKUP_DIR to a folder on another disk of the machine that runs the server, and ' +
  'restart the server';

/** Backs up the embedded log, one request at a time. */
export class Backups implements Backer {
  readonly #options: BackupsOptions;
  readonly #turns = new OneAtATime('backup');

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  async start({ name, signal }: BackupRequest): Promise<BackupAnswer | BackupRefusal> {
    const { config, clock, identity, signedEnd } = this.#options;
    const { eventLog, backupDir, dataDir, diskReserveBytes, platformDomain } = config;
    if (eventLog.kind !== 'embedded') return { ok: false, reason: 'not-found', detail: howToBackUpEventStore };
    if (backupDir === undefined) return { ok: false, reason: 'not-found', detail: howToSetUp };
    const busy = this.#turns.busy();
    if (busy !== undefined) return busy;
    return this.#turns.serve(signal, async (ending) => {
      const { logId, epoch } = identity();
      const task = {
        logDir: join(dataDir, 'log'),
        backupDir,
        name: name ?? `${logId}-${String(epoch)}`,
        identity: { logId, epoch, domain: platformDomain },
        reserveBytes: diskReserveBytes,
        segmentBytesMax: backupSegmentBytesMax,
        checkpoint: await signedEnd(ending),
      };
      return new BackupThread(task, { clock, signal: ending });
    });
  }

  async stop(): Promise<void> {
    await this.#turns.stop();
  }
}

type ThreadPorts = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** The thread of one backup. Before its end, the thread removes incomplete files. */
class BackupThread implements Run<BackupRefusalReason> {
  readonly #signal: AbortSignal;
  readonly #epoch: number;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: MessageThread<BackupMessage>;

  constructor(task: Omit<BackupTask, 'stop'>, { clock, signal }: ThreadPorts) {
    this.#signal = signal;
    this.#epoch = task.identity.epoch;
    const workerData: BackupTask = { ...task, stop: this.#stop };
    const heapMegabytesMax = backupHeapMegabytesMax;
    this.#thread = new MessageThread({ url: backupWorkerUrl, name: 'backup', workerData, heapMegabytesMax, clock });
  }

  async next(): Promise<BackupMessage | undefined> {
    return this.#thread.next();
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    for (let isOver = false; !isOver;) {
      const line = this.#lineOf(await this.next());
      if (line !== undefined) yield jsonLine(line);
      isOver = line?.kind === 'Result' || line?.kind === 'Failure';
    }
  }

  /** Stops the thread. A complete backup stays in the folder. */
  async stop(): Promise<void> {
    Atomics.store(this.#stop, 0, 1);
    await this.#thread.end();
  }

  #shown(position: number): string {
    return shownPosition(position, this.#epoch);
  }

  #lineOf(message: BackupMessage | undefined): Line | undefined {
    if (this.#signal.aborted || message === undefined)
      return { kind: 'Failure', message: 'the backup was stopped before its end' };
    switch (message.kind) {
      case 'progress':
        return { ...message, kind: 'Progress', position: this.#shown(message.position) };
      case 'done':
        return { kind: 'Result', ...message.summary, position: this.#shown(message.summary.position) };
      case 'failed':
        return { kind: 'Failure', message: message.detail };
      default:
        return undefined;
    }
  }
}

type Line = { readonly kind: 'Progress' | 'Result' | 'Failure' } & Readonly<Record<string, unknown>>;
