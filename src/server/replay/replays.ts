import { join } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import { jsonLine } from '../../base/json-line.ts';
import type { HeldModels } from '../../../projections/replay/held-models.ts';
import type { Config } from '../../config/config.ts';
import type {
  Compared,
  Difference,
  RefusalReason,
  Replayer,
  ReplayAnswer,
  ReplayRefusal,
  ReplayRequest,
} from '../../read/replay.ts';
import { OneAtATime, type Run } from '../threads/one-at-a-time.ts';
import { checkMemory, holdWith, NotHeldError, type CheckedMemory, type LiveModels } from './check-memory.ts';
import { ReplayThread } from './replay-thread.ts';
import type { ReplayTask, ReplayWork, ReplayMessage } from './replay-task.ts';

export type ReplaysOptions = {
  readonly config: Config;
  readonly reserveBytes: number;
  readonly clock: LiveModels['clock'];
  /** The models of this process; undefined: the server of this DATA_DIR is stopped. */
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
    const building = this.#options.live?.models.building()[0];
    if (building !== undefined)
      return { ok: false, reason: 'unavailable', detail: `the indexes of ${building} are being built` };
    return this.#turns.serve(request.signal, (ending) => {
      return new ReplayRun(this.#taskOf(request), request, { ...this.#options, ending });
    });
  }

  async stop(): Promise<void> {
    await this.#turns.stop();
  }

  #taskOf({ from, until, print }: ReplayRequest): Omit<ReplayTask, 'dir' | 'cells'> {
    const { config, reserveBytes, live } = this.#options;
    const { dataDir, eventLog, platformDomain } = config;
    const work: ReplayWork =
      until === undefined
        ? { kind: 'compare', live: join(dataDir, 'read-models'), isShared: live !== undefined }
        : from === undefined
          ? { kind: 'until', until }
          : { kind: 'diff', from, until };
    return { config: { dataDir, eventLog, platformDomain }, reserveBytes, work, print };
  }
}

type RunOptions = ReplaysOptions & { readonly ending: AbortSignal };
type Checked = Promise<CheckedMemory | { readonly failed: string }>;

/** One replay, from the start of its thread to the last line of the response. */
class ReplayRun implements Run<RefusalReason> {
  readonly #request: ReplayRequest;
  readonly #options: RunOptions;
  readonly #thread: ReplayThread;
  readonly #left = new AbortController();
  readonly #signal: AbortSignal;
  #held: HeldModels | undefined;
  #memory: Checked | undefined;
  #comparison: { readonly difference: Difference | undefined; readonly compared: Compared } | undefined;

  constructor(task: Omit<ReplayTask, 'dir' | 'cells'>, request: ReplayRequest, options: RunOptions) {
    this.#request = request;
    this.#options = options;
    this.#signal = AbortSignal.any([options.ending, this.#left.signal]);
    this.#thread = new ReplayThread(task, options.clock);
  }

  async next(): Promise<ReplayMessage | undefined> {
    return this.#thread.next();
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    try {
      for (let isOver = false; !isOver;) {
        const message = await this.next();
        this.#signal.throwIfAborted();
        if (message === undefined) throw new NotHeldError('the replay ended before its last line');
        const line = message.kind === 'lines' ? this.#shown(message) : await this.#lineOf(message);
        if (line !== undefined) yield line;
        if (message.kind === 'lines') this.#thread.takeMore();
        isOver = message.kind === 'done' || message.kind === 'failed';
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
    await this.#memory;
    await this.#thread.stop();
  }

  async #lineOf(message: Exclude<ReplayMessage, { kind: 'lines' }>): Promise<Uint8Array | undefined> {
    switch (message.kind) {
      case 'progress':
        return jsonLine({ ...message, kind: 'Progress' });
      case 'waits':
        return this.#hold();
      case 'compared':
        this.#comparison = message;
        return undefined;
      case 'done':
        return this.#result(message.summary);
      case 'failed':
        return failure(message.detail);
      default:
        return undefined;
    }
  }

  /** Holds the models and starts the comparison of memory, while the thread compares the tables. */
  async #hold(): Promise<Uint8Array | undefined> {
    const { live } = this.#options;
    if (live === undefined) return undefined;
    this.#held = await holdWith(this.#thread, live, this.#signal);
    this.#memory = checkMemory(this.#held, live, this.#signal).catch((error: unknown) => ({
      failed: messageOf(error),
    }));
    return undefined;
  }

  async #result(summary: Extract<ReplayMessage, { kind: 'done' }>['summary']): Promise<Uint8Array> {
    const result = { kind: 'Result', ...summary };
    if (this.#comparison === undefined) return jsonLine(result);
    const memory = await this.#memory;
    if (memory !== undefined && 'failed' in memory) return failure(memory.failed);
    const difference = this.#comparison.difference ?? memory?.difference;
    const compared = { ...this.#comparison.compared, ...(memory === undefined ? {} : { indexes: memory.indexes }) };
    return jsonLine({
      ...result,
      compared,
      equal: difference === undefined,
      ...(difference === undefined ? {} : { difference }),
    });
  }
}

function failure(message: string): Uint8Array {
  return jsonLine({ kind: 'Failure', message });
}
