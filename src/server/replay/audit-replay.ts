import { AuditModels, auditedCategories } from '../../../projections/audit/audit-models.ts';
import type { AuditPart } from '../../../projections/audit/audit-part.ts';
import { AuditTables, type AuditTableName } from '../../../projections/audit/audit-tables.ts';
import { AuditView, type AuditSnapshot } from '../../../projections/audit/audit-view.ts';
import { columnsTable } from '../../../projections/audit/columns/column-tables.ts';
import { EventPart } from '../../../projections/audit/event-part.ts';
import { TimePart } from '../../../projections/audit/time-part.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import { encodeCheckpoint, type Checkpoint } from '../../../projections/checkpoint.ts';
import { differenceAt } from '../../../projections/replay/audit-place.ts';
import { compareAudit, type CountedParts } from '../../../projections/replay/compare-audit.ts';
import { differenceOfBytes } from '../../../projections/replay/differing-bytes.ts';
import type { Share } from '../../../projections/replay/rebuild.ts';
import { rebuildInBatches } from '../../../projections/replay/rebuild-in-batches.ts';
import { delay, systemClock } from '../../base/clock.ts';
import { must } from '../../base/unreachable.ts';
import { prepareStoreFiles } from '../../disk/store-files.ts';
import { replayAuditBatchBytesMax, replayViewAttemptsMax, replayViewPauseMs } from '../../limits/replay.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import { epochShift, logPosition, logStart, type LogIdentity, type LogPosition } from '../../log/log.ts';
import type { Difference } from '../../read/replay.ts';
import { RefusedError } from './replay-errors.ts';
import { bytesOfTables, ReplayProgress } from './replay-progress.ts';
import { openReplayedLog } from './replayed-log.ts';
import type { ReplayPorts, ReplayTask, ReplayWork } from './replay-task.ts';

export type AuditReplayTask = Omit<ReplayTask, 'work'> & {
  readonly work: Extract<ReplayWork, { kind: 'compare-audit' }>;
};

/**
 * Folds the log into separate audit tables, and compares these tables with the live audit indexes. Columns are compared
 * elsewhere, because code of plugins computes their values.
 */
export class AuditReplay {
  isAccepted = false;
  readonly #task: AuditReplayTask;
  readonly #ports: ReplayPorts;
  readonly #progress: ReplayProgress;
  #log: FoundedLog | undefined;
  #tables: AuditTables | undefined;
  readonly #views: AuditView[] = [];

  constructor(task: AuditReplayTask, ports: ReplayPorts) {
    this.#task = task;
    this.#ports = ports;
    this.#progress = new ReplayProgress(task, ports);
  }

  async run(): Promise<void> {
    const { dir, work } = this.#task;
    const log = await this.#openLog();
    const identity = (): LogIdentity => log.identity();
    const parts = partsOf(identity);
    const tables = new AuditTables(dir, parts, prepareStoreFiles);
    this.#tables = tables;
    const models = new AuditModels({ tables, parts, identity, clock: systemClock });
    const view = this.#view(work.live, [columnsTable]);
    const until = this.#begin(view, parts, identity());
    this.#progress.assertRoom(bytesOfTables(work.live));
    this.isAccepted = true;
    this.#ports.post({ kind: 'accepted' });
    await this.#rebuild(models, until);
    await this.#compare(models, view);
    const [position, events] = [models.position().toString(), models.folded()];
    this.#ports.post({ kind: 'done', summary: { position, events, objects: 0 } });
  }

  async close(): Promise<void> {
    for (const view of this.#views.splice(0)) await view.close();
    await this.#tables?.close();
    await this.#log?.close();
  }

  /**
   * Opens the log, and closes the previous handle. A handle on an embedded log shows only the events at the time of
   * opening, so a new handle shows later events.
   */
  async #openLog(): Promise<FoundedLog> {
    await this.#log?.close();
    this.#log = await openReplayedLog(this.#task);
    return this.#log;
  }

  #view(dir: string, more: readonly AuditTableName[] = []): AuditView {
    const view = new AuditView(dir, [...must(this.#tables, 'the tables are open').names(), ...more]);
    this.#views.push(view);
    return view;
  }

  /**
   * Checks that the live audit indexes belong to this log, epoch and version. Returns the position of the indexes,
   * which only increases.
   *
   * @throws RefusedError if the indexes do not belong to this log, epoch or version.
   */
  #begin(view: AuditView, parts: readonly AuditPart[], { logId, epoch }: LogIdentity): LogPosition {
    const snapshot = view.snapshot();
    const [checkpoint, formats] = [snapshot.checkpoint(), snapshot.formats()];
    snapshot.release();
    const rebuilt = 'the server rebuilds them from the log';
    if (checkpoint === undefined) throw new RefusedError('unavailable', `the audit indexes are empty: ${rebuilt}`);
    if (checkpoint.logId !== logId || checkpoint.epoch !== epoch)
      throw new RefusedError('unavailable', `the audit indexes are of another log or epoch: ${rebuilt}`);
    if (parts.some(({ name, format }) => formats.get(name) !== format))
      throw new RefusedError('unavailable', `the audit indexes are of another version: ${rebuilt}`);
    return checkpoint.position;
  }

  async #rebuild(models: AuditModels, until: LogPosition): Promise<void> {
    const log = await this.#openLog();
    const { epoch } = log.identity();
    const onBatch = (written?: Share): void => {
      if (written !== undefined) this.#progress.advance('writing', written);
      else this.#progress.fold(models.progress(), { until, epoch });
    };
    // Another thread of the comparison checks the log's index up to this position.
    const indexedUntil = this.#task.work.atLeast ?? logStart;
    const bytesMax = replayAuditBatchBytesMax;
    await rebuildInBatches(log, models, { until, onBatch, categories: auditedCategories, bytesMax, indexedUntil });
  }

  async #compare(models: AuditModels, view: AuditView): Promise<void> {
    const live = await this.#latest(view);
    try {
      const checkpoint = must(live.checkpoint(), 'the fold has begun');
      await this.#rebuild(models, checkpoint.position);
      const own = this.#view(this.#task.dir);
      const replayed = own.snapshot();
      const counted: CountedParts = {};
      const onStep = (): void => {
        const done = Object.values(counted).reduce((sum, count) => sum + count, 0);
        this.#progress.advance('comparing', { done, all });
      };
      const all = own.size();
      const difference =
        differenceOfCheckpoints(checkpoint, replayed.checkpoint()) ??
        (await this.#firstDifference([live, replayed], { counted, onStep }));
      replayed.release();
      this.#ports.post({ kind: 'compared', difference, compared: counted, columnTypes: live.columnTypes() });
    } finally {
      live.release();
    }
  }

  async #firstDifference(
    snapshots: readonly [live: AuditSnapshot, replayed: AuditSnapshot],
    { counted, onStep }: { readonly counted: CountedParts; readonly onStep: () => void },
  ): Promise<Difference | undefined> {
    const steps = compareAudit(snapshots, must(this.#tables, 'the tables are open').names(), counted);
    for (;;) {
      const step = steps.next();
      if (step.done !== true) onStep();
      else if (step.value === undefined) return undefined;
      else {
        const log = must(this.#log, 'the log is open');
        const shift = epochShift(log.identity().epoch);
        return differenceAt(step.value, async (within) => log.readAt(logPosition(BigInt(within) + shift)));
      }
    }
  }

  /**
   * Waits for a snapshot of the live tables at `atLeast` or later.
   *
   * @throws RefusedError if the audit indexes remain behind.
   */
  async #latest(view: AuditView): Promise<AuditSnapshot> {
    const { atLeast } = this.#task.work;
    const { signal } = new AbortController();
    for (let tried = 0; tried < replayViewAttemptsMax; tried += 1) {
      const snapshot = view.snapshot();
      const checkpoint = snapshot.checkpoint();
      if (checkpoint !== undefined && checkpoint.position >= (atLeast ?? checkpoint.position)) return snapshot;
      snapshot.release();
      await delay(systemClock, replayViewPauseMs, signal);
      this.#progress.goOn();
    }
    throw new RefusedError('unavailable', `the audit indexes have not reached position ${String(atLeast)}`);
  }
}

function partsOf(identity: () => LogIdentity): readonly AuditPart[] {
  const versions = new VersionPart({ identity });
  const tree = new TreePart(() => identity().epoch);
  return [tree, versions, new TimePart(identity), new EventPart({ identity, versions })];
}

function differenceOfCheckpoints(live: Checkpoint, replayed: Checkpoint | undefined): Difference | undefined {
  const [one, other] = [live, replayed].map((checkpoint) =>
    Buffer.from(checkpoint === undefined ? '' : encodeCheckpoint(checkpoint)),
  );
  const detail = differenceOfBytes(must(one, 'the array has two elements'), must(other, 'the array has two elements'));
  return detail === undefined ? undefined : { table: 'audit', key: 'checkpoint', detail };
}
