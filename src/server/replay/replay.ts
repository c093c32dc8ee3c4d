import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { LmdbView } from '../../../projections/lmdb-view.ts';
import { compareTables, noTables } from '../../../projections/replay/compare-tables.ts';
import type { Share } from '../../../projections/replay/rebuild.ts';
import { prepareStoreFiles } from '../../disk/store-files.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import type { LogPosition } from '../../log/log.ts';
import type { Difference, Moment, Selected } from '../../read/replay.ts';
import { openReplayedFold, type ReplayedFold } from './replayed-fold.ts';
import { openReplayedLog } from './replayed-log.ts';
import { RefusedError } from './replay-errors.ts';
import { bytesOfTables, ReplayProgress } from './replay-progress.ts';
import { printChanges } from './print-changes.ts';
import { printObjects, type PrintPorts } from './print-objects.ts';
import { resolveMoment } from './resolve-moment.ts';
import type { ReplayPorts, ReplayTask } from './replay-task.ts';

type Span = {
  readonly from: LogPosition;
  readonly until: LogPosition;
};

/** Folds the log into separate tables, and compares or prints these tables. */
export class Replay {
  isAccepted = false;
  readonly #task: ReplayTask;
  readonly #ports: ReplayPorts;
  #log: FoundedLog | undefined;
  #tables: LmdbTables | undefined;
  #views: LmdbView[] = [];
  readonly #progress: ReplayProgress;

  constructor(task: ReplayTask, ports: ReplayPorts) {
    this.#task = task;
    this.#ports = ports;
    this.#progress = new ReplayProgress(task, ports);
  }

  async run(): Promise<void> {
    const { work } = this.#task;
    const log = await this.#openLog();
    const models = this.#openModels(log);
    switch (work.kind) {
      case 'compare':
        await this.#compareLive(models, work.live, log);
        break;
      case 'until':
        await this.#showState(models, await this.#resolve(work.until, log));
        break;
      case 'compare-audit':
        throw new RangeError('Replay does not compare the audit indexes: use AuditReplay');
      case 'diff':
        await this.#showChanges(models, await this.#resolveBoth(work, log));
    }
    const [position, events] = [models.position().toString(), models.folded()];
    this.#ports.post({ kind: 'done', summary: { position, events, objects: this.#tables?.size() ?? 0 } });
  }

  async close(): Promise<void> {
    for (const view of this.#views.splice(0)) await view.close();
    await this.#tables?.close();
    await this.#log?.close();
  }

  async #compareLive(models: ReplayedFold, live: string, log: FoundedLog): Promise<void> {
    const view = this.#view(live);
    const until = this.#beginComparison(view, log);
    this.#accept(bytesOfTables(live));
    await this.#rebuild(models, until);
    await this.#compare(models, view);
    await this.#print();
  }

  async #showState(models: ReplayedFold, until: LogPosition): Promise<void> {
    this.#accept(0);
    await this.#rebuild(models, until);
    await this.#print();
  }

  async #print(): Promise<void> {
    const { print, dir } = this.#task;
    if (print === undefined) return;
    const replayed = this.#view(dir).snapshot();
    await printObjects(replayed, print, this.#printing(print));
    replayed.release();
  }

  async #showChanges(models: ReplayedFold, { from, until }: Span): Promise<void> {
    const { print, dir } = this.#task;
    this.#accept(0);
    await this.#rebuild(models, from);
    const view = this.#view(dir);
    // The state at `from` stays readable, because LMDB does not reuse the pages of a snapshot.
    const before = view.snapshot();
    await this.#rebuild(models, until);
    const after = view.snapshot();
    if (print !== undefined) await printChanges({ before, after }, print, this.#printing(print));
    before.release();
    after.release();
  }

  /**
   * Reports progress only if objects of all types are printed, because the number of objects of one type is unknown.
   */
  #printing({ type }: Selected): PrintPorts {
    const all = this.#tables?.size() ?? 0;
    return {
      send: async (message) => this.#ports.send(message),
      onRead: (done) => {
        if (type === undefined) this.#progress.advance('printing', { done, all });
        else this.#progress.goOn();
      },
    };
  }

  #accept(neededBytes: number): void {
    this.#progress.assertRoom(neededBytes);
    this.isAccepted = true;
    this.#ports.post({ kind: 'accepted' });
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

  #openModels(log: FoundedLog): ReplayedFold {
    this.#tables = new LmdbTables(this.#task.dir, prepareStoreFiles);
    return openReplayedFold(this.#tables, log);
  }

  #view(dir: string): LmdbView {
    const view = new LmdbView(dir);
    this.#views.push(view);
    return view;
  }

  async #resolve(moment: Moment, log: FoundedLog): Promise<LogPosition> {
    return resolveMoment(moment, log, () => {
      this.#progress.goOn();
    });
  }

  async #resolveBoth(work: Readonly<Record<'from' | 'until', Moment>>, log: FoundedLog): Promise<Span> {
    const [from, until] = [await this.#resolve(work.from, log), await this.#resolve(work.until, log)];
    if (from <= until) return { from, until };
    throw new RefusedError(
      'bad-request',
      'the first moment is after the second: changes are shown from past to present',
    );
  }

  /** Checks that the live read models belong to this log, and returns their position, which only increases. */
  #beginComparison(view: LmdbView, log: FoundedLog): LogPosition {
    const snapshot = view.snapshot();
    const checkpoint = snapshot.checkpoint();
    snapshot.release();
    const { logId, epoch } = log.identity();
    if (checkpoint === undefined)
      throw new RefusedError('unavailable', 'the read models are empty: the next start rebuilds them from the log');
    if (checkpoint.logId !== logId || checkpoint.epoch !== epoch)
      throw new RefusedError(
        'unavailable',
        'the read models are of another log or epoch: the next start rebuilds them',
      );
    return checkpoint.position;
  }

  async #rebuild(models: ReplayedFold, until: LogPosition): Promise<void> {
    const log = await this.#openLog();
    const { epoch } = log.identity();
    const onBatch = (written?: Share): void => {
      if (written !== undefined) this.#progress.advance('writing', written);
      else this.#progress.fold({ position: models.position(), events: models.folded() }, { until, epoch });
    };
    await models.rebuild(log, { until, onBatch });
  }

  async #compare(models: ReplayedFold, view: LmdbView): Promise<void> {
    const live = view.snapshot();
    try {
      const until = live.checkpoint()?.position ?? models.position();
      await this.#rebuild(models, until);
      const replayed = this.#view(this.#task.dir).snapshot();
      const counted = noTables();
      const steps = compareTables(live, replayed, counted);
      let difference: Difference | undefined;
      for (;;) {
        const step = steps.next();
        if (step.done === true) {
          difference = step.value;
          break;
        }
        this.#progress.advance('comparing', { done: counted.rows, all: this.#tables?.size() ?? 0 });
      }
      replayed.release();
      this.#ports.post({ kind: 'compared', difference, compared: counted });
    } finally {
      live.release();
    }
  }
}
