import { join } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import type { HeldModels } from '../../../projections/replay/held-models.ts';
import type { Config } from '../../config/config.ts';
import type { Compared, Difference, Replayer, ReplayAnswer, ReplayRefusal, ReplayRequest } from '../../read/replay.ts';
import { checkMemory, holdWith, NotHeldError, type CheckedMemory, type LiveModels } from './check-memory.ts';
import { ReplayThread } from './replay-thread.ts';
import type { ReplayTask, ReplayWork, ThreadMessage } from './replay-task.ts';

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
  #running: Promise<unknown> | undefined;
  readonly #stopping = new AbortController();

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  async start(request: ReplayRequest): Promise<ReplayAnswer | ReplayRefusal> {
    if (this.#running !== undefined)
      return { ok: false, reason: 'too-many-requests', detail: 'another replay is running: one runs at a time' };
    const building = this.#options.live?.models.building()[0];
    if (building !== undefined)
      return { ok: false, reason: 'unavailable', detail: `the indexes of ${building} are being built` };
    const run = new Run(this.#taskOf(request), request, { ...this.#options, stopping: this.#stopping.signal });
    this.#running = run.ended.finally(() => {
      this.#running = undefined;
    });
    const refused = await run.accepted();
    return refused ?? { ok: true, lines: run.lines() };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
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

type RunOptions = ReplaysOptions & { readonly stopping: AbortSignal };
type Checked = Promise<CheckedMemory | { readonly failed: string }>;

/** One replay, from the start of its thread to the last line of the response. */
class Run {
  readonly ended: Promise<void>;
  readonly #request: ReplayRequest;
  readonly #options: RunOptions;
  readonly #thread: ReplayThread;
  readonly #left = new AbortController();
  readonly #signal: AbortSignal;
  #settle: () => void = () => undefined;
  #held: HeldModels | undefined;
  #memory: Checked | undefined;
  #comparison: { readonly difference: Difference | undefined; readonly compared: Compared } | undefined;

  constructor(task: Omit<ReplayTask, 'dir' | 'cells'>, request: ReplayRequest, options: RunOptions) {
    this.#request = request;
    this.#options = options;
    this.#signal = AbortSignal.any([options.stopping, request.signal, this.#left.signal]);
    this.#thread = new ReplayThread(task, options.clock);
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#signal.addEventListener('abort', () => {
      void this.stop();
    });
  }

  /** Resolves when the request is accepted (undefined) or refused. */
  async accepted(): Promise<ReplayRefusal | undefined> {
    const message = await this.#thread.next();
    if (message?.kind === 'accepted') return undefined;
    await this.stop();
    if (message?.kind === 'refused') return { ok: false, reason: message.reason, detail: message.detail };
    const detail = message?.kind === 'failed' ? message.detail : 'the replay was stopped';
    return { ok: false, reason: 'unavailable', detail };
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    try {
      for (let isOver = false; !isOver;) {
        const message = await this.#thread.next();
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
    } finally {
      await this.stop();
    }
  }

  #shown({ type, bytes }: Extract<ThreadMessage, { kind: 'lines' }>): Uint8Array | undefined {
    return this.#request.mayRead(type) ? bytes : undefined;
  }

  async stop(): Promise<void> {
    if (!this.#left.signal.aborted) this.#left.abort();
    await this.#memory;
    await this.#thread.stop();
    this.#settle();
  }

  async #lineOf(message: Exclude<ThreadMessage, { kind: 'lines' }>): Promise<Uint8Array | undefined> {
    switch (message.kind) {
      case 'progress':
        return lineOf({ ...message, kind: 'Progress' });
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

  async #result(summary: Extract<ThreadMessage, { kind: 'done' }>['summary']): Promise<Uint8Array> {
    const result = { kind: 'Result', ...summary };
    if (this.#comparison === undefined) return lineOf(result);
    const memory = await this.#memory;
    if (memory !== undefined && 'failed' in memory) return failure(memory.failed);
    const difference = this.#comparison.difference ?? memory?.difference;
    const compared = { ...this.#comparison.compared, ...(memory === undefined ? {} : { indexes: memory.indexes }) };
    return lineOf({
      ...result,
      compared,
      equal: difference === undefined,
      ...(difference === undefined ? {} : { difference }),
    });
  }
}

function failure(message: string): Uint8Array {
  return lineOf({ kind: 'Failure', message });
}

function lineOf(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
