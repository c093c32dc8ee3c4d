import { join } from 'node:path';

import { jsonLine } from '../../base/json-line.ts';
import { must } from '../../base/unreachable.ts';
import type { CheckedColumns } from '../../../projections/replay/check-columns.ts';
import type { Config } from '../../config/config.ts';
import type {
  Compared,
  Difference,
  NotCompared,
  RefusalReason,
  Replayer,
  ReplayAnswer,
  ReplayRefusal,
  ReplayRequest,
} from '../../read/replay.ts';
import { OneAtATime, type Run } from '../threads/one-at-a-time.ts';
import { AuditComparison, type AuditComparisonResult } from './audit-comparison.ts';
import { checkLiveColumns, checkMemory, NotHeldError, type CheckedMemory, type LiveModels } from './check-memory.ts';
import { PolledWork } from './polled-work.ts';
import { ReplayThread } from './replay-thread.ts';
import type { ReplayTask, ReplayWork, ReplayMessage, Summary } from './replay-task.ts';

export type ReplaysOptions = {
  readonly config: Config;
  readonly reserveBytes: number;
  readonly clock: LiveModels['clock'];
  /** The models of this process; undefined if the server is stopped. */
  readonly live: LiveModels | undefined;
};

/** Replays the log, one request at a time. */
export class Replays implements Replayer {
  readonly #options: ReplaysOptions;
  readonly #turns = new OneAtATime('replay');

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  async start(request: ReplayRequest): Promise<ReplayAnswer | ReplayRefusal> {
    const busy = this.#turns.busy();
    if (busy !== undefined) return busy;
    const unavailable = this.#unavailable(request);
    if (unavailable !== undefined) return { ok: false, reason: 'unavailable', detail: unavailable };
    return this.#turns.serve(request.signal, (ending) => {
      return new ReplayRun(this.#tasksOf(request), request, { ...this.#options, ending });
    });
  }

  async stop(): Promise<void> {
    await this.#turns.stop();
  }

  /** Returns the reason why no replay can start now; undefined if a replay can start. */
  #unavailable({ until }: ReplayRequest): string | undefined {
    const { live } = this.#options;
    if (live === undefined) return undefined;
    const { models, audit } = live;
    const [building] = models.building();
    if (building !== undefined) return `the indexes of ${building} are being built`;
    return until === undefined && audit.position() < models.position() ? audit.unavailable() : undefined;
  }

  #tasksOf({ from, until, print }: ReplayRequest): Tasks {
    const { config, reserveBytes, live } = this.#options;
    const { dataDir, eventLog, platformDomain } = config;
    const work: ReplayWork =
      until === undefined
        ? { kind: 'compare', live: join(dataDir, 'read-models') }
        : from === undefined
          ? { kind: 'until', until }
          : { kind: 'diff', from, until };
    const main = { config: { dataDir, eventLog, platformDomain }, reserveBytes, work, print };
    const audit: ReplayWork = {
      kind: 'compare-audit',
      live: join(dataDir, 'audit-models'),
      atLeast: live?.models.position(),
    };
    return { main, audit: work.kind === 'compare' ? { ...main, print: undefined, work: audit } : undefined };
  }
}

type Task = Omit<ReplayTask, 'dir' | 'cells'>;
/** `audit` is the comparison of the audit indexes in a separate thread; undefined if not requested. */
type Tasks = {
  readonly main: Task;
  readonly audit: Task | undefined;
};
type RunOptions = ReplaysOptions & { readonly ending: AbortSignal };

/** One replay, from the start of its threads to the last line of the response. */
class ReplayRun implements Run<RefusalReason> {
  readonly #request: ReplayRequest;
  readonly #options: RunOptions;
  readonly #thread: ReplayThread;
  readonly #auditThread: ReplayThread | undefined;
  #isAccepted = false;
  readonly #left = new AbortController();
  readonly #signal: AbortSignal;
  #memory: PolledWork<CheckedMemory> | undefined;
  #columns: PolledWork<CheckedColumns> | undefined;
  #comparison: { readonly difference: Difference | undefined; readonly compared: Compared } | undefined;

  constructor({ main, audit }: Tasks, request: ReplayRequest, options: RunOptions) {
    this.#request = request;
    this.#options = options;
    this.#signal = AbortSignal.any([options.ending, this.#left.signal]);
    this.#thread = new ReplayThread(main, options.clock);
    this.#auditThread = audit === undefined ? undefined : new ReplayThread(audit, options.clock);
  }

  async next(): Promise<ReplayMessage | undefined> {
    const message = await this.#thread.next();
    if (this.#isAccepted || message?.kind !== 'accepted') return message;
    this.#isAccepted = true;
    if (this.#auditThread === undefined) return message;
    const first = await this.#auditThread.next();
    if (first?.kind === 'accepted') this.#compareMemory();
    return first;
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    try {
      for (let isOver = false; !isOver;) {
        const message = await this.next();
        this.#signal.throwIfAborted();
        if (message === undefined) throw new NotHeldError('the replay ended without a result');
        if (message.kind === 'done') {
          yield* this.#result(message.summary);
          return;
        }
        const line = message.kind === 'lines' ? this.#shown(message) : this.#lineOf(message);
        if (line !== undefined) yield line;
        if (message.kind === 'lines') this.#thread.takeMore();
        isOver = message.kind === 'failed';
      }
    } catch (error) {
      if (!this.#signal.aborted && !(error instanceof NotHeldError)) throw error;
      yield failure(error instanceof NotHeldError ? error.message : 'the replay was stopped before its end');
    }
  }

  #shown({ type, bytes }: Extract<ReplayMessage, { kind: 'lines' }>): Uint8Array | undefined {
    return this.#request.mayRead(type) ? bytes : undefined;
  }

  async stop(): Promise<void> {
    if (!this.#left.signal.aborted) this.#left.abort();
    await this.#columns?.outcome;
    await Promise.all([this.#thread.stop(), this.#auditThread?.stop()]);
  }

  #lineOf(message: Exclude<ReplayMessage, { kind: 'lines' }>): Uint8Array | undefined {
    switch (message.kind) {
      case 'progress':
        return jsonLine({ ...message, kind: 'Progress' });
      case 'compared':
        this.#comparison = message;
        return undefined;
      case 'failed':
        return failure(message.detail);
      default:
        return undefined;
    }
  }

  /** Starts the comparison of the models in memory, while the thread folds and compares the tables. */
  #compareMemory(): void {
    const { live } = this.#options;
    if (live === undefined) return;
    const signal = this.#signal;
    const memory = new PolledWork((onProgress) => checkMemory(live, signal, onProgress), live.clock);
    this.#memory = memory;
    // The columns are compared only if the indexes are equal.
    this.#columns = new PolledWork(async (onProgress) => {
      const checked = await memory.outcome;
      if (!checked.ok || checked.value.difference !== undefined) return noColumns;
      return checkLiveColumns(live, signal, onProgress);
    }, live.clock);
  }

  async *#result(summary: Summary): AsyncGenerator<Uint8Array> {
    const result = { kind: 'Result', ...summary };
    const tables = this.#comparison;
    if (tables === undefined) {
      yield jsonLine(result);
      return;
    }
    const memory = this.#memory && (yield* this.#progress('indexes', this.#memory));
    const found = tables.difference ?? memory?.difference;
    const compared = { ...tables.compared, ...(memory === undefined ? {} : { indexes: memory.indexes }) };
    yield jsonLine({ ...result, kind: 'Compared', compared, equal: found === undefined });
    const audit = yield* this.#auditResult();
    const columns = yield* this.#columnResult(audit.columnTypes);
    const difference = found ?? audit.difference ?? columns.difference;
    const { position, events } = audit.summary;
    yield jsonLine({
      ...result,
      audit: { position, events },
      compared: { ...compared, ...audit.compared, ...(this.#columns === undefined ? {} : { columns: columns.rows }) },
      ...(columns.notCompared.length === 0 ? {} : { notCompared: columns.notCompared }),
      equal: difference === undefined,
      ...(difference === undefined ? {} : { difference }),
    });
  }

  /** `stored` contains the types with columns in the tables. */
  async *#columnResult(stored: readonly string[]): AsyncGenerator<Uint8Array, CheckedColumns> {
    if (this.#columns === undefined) return { difference: undefined, rows: 0, notCompared: withoutPlugins(stored) };
    return yield* this.#progress('columns', this.#columns);
  }

  /** Yields the progress of the work as lines, and returns the result of the work. */
  async *#progress<T>(of: string, work: PolledWork<T>): AsyncGenerator<Uint8Array, T> {
    const steps = work.result();
    for (;;) {
      const step = await steps.next();
      this.#signal.throwIfAborted();
      if (step.done === true) return step.value;
      yield jsonLine({ kind: 'Progress', of, step: 'comparing', percent: step.value });
    }
  }

  async *#auditResult(): AsyncGenerator<Uint8Array, AuditComparisonResult> {
    const messages = new AuditComparison(must(this.#auditThread, 'a comparison has this thread')).result();
    for (;;) {
      const step = await messages.next();
      this.#signal.throwIfAborted();
      if (step.done === true) return step.value;
      yield jsonLine({ ...step.value, kind: 'Progress', of: 'audit' });
    }
  }
}

const noColumns: CheckedColumns = { difference: undefined, rows: 0, notCompared: [] };

/** Returns the read models that a replay of a stopped server does not compare. */
function withoutPlugins(columnTypes: readonly string[]): readonly NotCompared[] {
  const reason = 'the server is stopped, and only running plugins can compute the values';
  return ['index entries of rows', ...columnTypes.map((type) => `columns of ${type}`)].map((table) => ({
    table,
    reason,
  }));
}

function failure(message: string): Uint8Array {
  return jsonLine({ kind: 'Failure', message });
}
