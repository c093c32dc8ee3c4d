import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import type { EventLog, RecordedEvent } from '../../src/log/log.ts';
import type { BackupMessage, BackupSummary, BackupTask } from '../../src/server/backup/backup-task.ts';
import { BackupRun } from '../../src/server/backup/write-backup.ts';
import type { TestServer } from '../support/server/start-server.ts';
import { collect } from '../support/memory/log-events.ts';
import { logStart } from '../../src/log/log.ts';

export const backupsPath = '/apis/audit.svc.run/v1alpha1/backups';
export const rolesPath = '/api/v1alpha1/roles';

export type Line = Readonly<Record<string, unknown>>;

export async function folder(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-backup-'));
  t.teardown(async () => rm(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}

/** A whole backup by HTTP. */
export async function backUp(
  server: Pick<TestServer, 'call'>,
  body: object = {},
): Promise<{ readonly status: number; readonly last: Line }> {
  const answer = await server.call(backupsPath, { method: 'POST', body });
  const lines = (await answer.text()).split('\n').filter((line) => line !== '');
  return { status: answer.status, last: JSON.parse(lines.at(-1) ?? '{}') as Line };
}

/** Makes roles with so many bytes each. */
export async function makeRoles(
  server: Pick<TestServer, 'call'>,
  names: readonly string[],
  bytes = 100,
): Promise<void> {
  for (const name of names) {
    const metadata = { name, annotations: { 'example.com/text': 'x'.repeat(bytes) } };
    const body = { apiVersion: 'v1alpha1', kind: 'Role', metadata, rules: [] };
    const { status } = await server.call(rolesPath, { method: 'POST', body });
    if (status !== 201) throw new Error(`${name} was answered ${String(status)}`);
  }
}

export async function withLog<T>(dir: string, work: (log: EventLog) => Promise<T>): Promise<T> {
  const log = await openLmdbLog({
    dir,
    onFatal: (error) => {
      throw error;
    },
  });
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

export async function eventsIn(dir: string): Promise<readonly RecordedEvent[]> {
  return withLog(dir, async (log) => collect(log.readAll({ after: logStart })));
}

export type Task = Partial<BackupTask> & Pick<BackupTask, 'logDir' | 'backupDir' | 'identity'>;

/** A backup as the server's thread makes it, here. `isStopped`: asked now and then. */
export async function runBackup(task: Task, isStopped = (): boolean => false): Promise<BackupSummary> {
  const messages: BackupMessage[] = [];
  const run = new BackupRun(
    {
      name: 'one',
      reserveBytes: 0,
      segmentBytesMax: 1_000_000,
      checkpoint: { unsigned: 'a test' },
      stop: new Int32Array(1),
      ...task,
    },
    { post: (message) => messages.push(message), isStopped },
  );
  try {
    await run.run();
  } finally {
    await run.close();
  }
  const last = messages.at(-1);
  if (last?.kind !== 'done') throw new Error(`the last message is ${JSON.stringify(last)}`);
  return last.summary;
}

/** The files of a folder with their contents. */
export async function filesOf(dir: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = (await readdir(dir)).sort();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)));
}
