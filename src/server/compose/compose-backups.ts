import { parseCheckpoint } from '../../audit/proof/checkpoint.ts';
import { parseNote } from '../../audit/proof/signed-note.ts';
import { messageOf } from '../../base/error-message.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { backupRoutes } from '../../http/platform/backup-routes.ts';
import { backupTreeMs } from '../../limits/backup.ts';
import { epochShift } from '../../log/log.ts';
import type { TreeReader } from '../../read/tree.ts';
import { Backups } from '../backup/backups.ts';
import type { BackupTask } from '../backup/backup-task.ts';
import type { Core } from './core.ts';

export type ComposedBackups = {
  readonly routes: readonly PlatformRoute[];
  stop(): Promise<void>;
};

export function composeBackups(core: Core, tree: TreeReader): ComposedBackups {
  const {
    config,
    eventLog,
    edge: { domain, clock },
  } = core;
  const backups = new Backups({
    config,
    clock,
    identity: () => eventLog.identity(),
    signedEnd: async (signal) => signedEnd(core, tree, signal),
  });
  return { routes: backupRoutes(domain, backups), stop: async () => backups.stop() };
}

/**
 * Returns a signed checkpoint of all events that were acknowledged before the call, and the raw position of the last
 * leaf in its tree. Returns the reason if no checkpoint can be signed.
 */
async function signedEnd(
  { audit, eventLog }: Core,
  tree: TreeReader,
  signal: AbortSignal,
): Promise<BackupTask['checkpoint']> {
  const head = await eventLog.head();
  const reached = await audit.models.reached(head, { timeoutMs: backupTreeMs, signal });
  if (reached !== 'reached') return { unsigned: audit.models.unavailable() ?? 'the tree is behind the log' };
  try {
    const note = await tree.signedCheckpoint();
    const text = parseNote(note)?.text;
    const size = text === undefined ? undefined : parseCheckpoint(text)?.size;
    if (size === undefined || size === 0) return { unsigned: 'the tree is empty' };
    return { note, position: Number(tree.positionOf(size - 1) - epochShift(eventLog.identity().epoch)) };
  } catch (error) {
    return { unsigned: messageOf(error) };
  }
}
