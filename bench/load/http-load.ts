import type { Socket } from 'node:net';

import { ResponseReader } from './response-reader.ts';
import { openSocket, type Target } from './socket.ts';
import { compileRequest } from './template.ts';
import type { Places, RequestTemplate } from './template.ts';

/**
 * The plan of a closed loop: each connection sends its next request after the last response. The generator uses bare
 * sockets, so that it costs only a fraction of the measured work.
 */
export type LoadPlan = Target & {
  readonly request: RequestTemplate;
  readonly connections: number;
  readonly status: number;
  /** The number of responses before the measurement starts. */
  readonly warmUp: number;
  /** The number of measured responses, after which the load stops. */
  readonly requests: number;
  /**
   * The first value of `{n}`, and of `{k}` for each connection. A later run continues the numbers of an earlier run.
   */
  readonly first?: number;
  readonly firstOf?: readonly number[];
  /** The first value of `{v}` for each connection. Later values are read from the responses. */
  readonly versionsOf?: readonly string[];
};

export type LoadResult = {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The number of responses with another status than expected, including those of the warm-up. */
  readonly errors: number;
  /** A description of the first response with another status. */
  readonly error: string | undefined;
  readonly bodyBytes: number;
  /** The values of `{n}`, and of `{k}` for each connection, with which the next run continues. */
  readonly next: number;
  readonly nextOf: readonly number[];
  /** The last value of `{v}` for each connection. */
  readonly versionsOf: readonly string[];
};

/** Runs the load. `onPhase` is called when the measured part begins and ends. */
export async function runLoad(
  plan: LoadPlan,
  onPhase: (phase: 'begin' | 'end') => void = () => undefined,
): Promise<LoadResult> {
  const run = new LoadRun(plan, onPhase);
  return run.go();
}

type Connection = {
  readonly socket: Socket;
  readonly index: number;
  k: number;
  version: string;
  sentAt: number;
  busy: boolean;
};

class LoadRun {
  readonly #plan: LoadPlan;
  readonly #onPhase: (phase: 'begin' | 'end') => void;
  readonly #render: (places: Places) => Buffer | string;
  readonly #places: Places = { n: 0, c: 0, k: 0, v: '' };
  readonly #latencies: Float64Array;
  readonly #connections: Connection[] = [];
  #sent = 0;
  #answered = 0;
  #errors = 0;
  #error: string | undefined;
  #bodyBytes = 0;
  #beganAt = 0;
  #endedAt = 0;
  #finish: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(plan: LoadPlan, onPhase: (phase: 'begin' | 'end') => void) {
    this.#plan = plan;
    this.#onPhase = onPhase;
    this.#render = compileRequest(plan.request);
    this.#latencies = new Float64Array(plan.requests);
    this.#places.n = plan.first ?? 0;
  }

  async go(): Promise<LoadResult> {
    const finished = new Promise<void>((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    await Promise.all(Array.from({ length: this.#plan.connections }, (_, index) => this.#open(index)));
    if (this.#plan.warmUp === 0) this.#begin();
    for (const connection of this.#connections) this.#send(connection);
    await finished;
    for (const { socket } of this.#connections) socket.destroy();
    return this.#result();
  }

  #open(index: number): Promise<void> {
    const { firstOf, versionsOf } = this.#plan;
    return new Promise((resolve, reject) => {
      const socket = openSocket(this.#plan, resolve);
      const version = versionsOf?.[index] ?? '';
      const connection: Connection = { socket, index, k: firstOf?.[index] ?? 0, version, sentAt: 0, busy: false };
      this.#connections[index] = connection;
      const reader = new ResponseReader((status, bodyBytes) => {
        this.#answer(connection, reader, status, bodyBytes);
      });
      if (versionsOf !== undefined) reader.kept = [];
      socket.on('data', (chunk: Buffer) => {
        reader.read(chunk);
      });
      socket.once('error', (error: Error) => {
        reject(error);
        this.#fail?.(error);
      });
      socket.once('close', () => {
        if (connection.busy) this.#fail?.(new Error(`connection ${index.toString()} was closed before its response`));
      });
    });
  }

  #begin(): void {
    this.#onPhase('begin');
    this.#beganAt = performance.now();
  }

  #send(connection: Connection): void {
    if (this.#sent >= this.#plan.warmUp + this.#plan.requests) return;
    this.#sent += 1;
    connection.busy = true;
    this.#places.c = connection.index;
    this.#places.k = connection.k;
    this.#places.v = connection.version;
    const request = this.#render(this.#places);
    this.#places.n += 1;
    connection.k += 1;
    connection.sentAt = performance.now();
    if (typeof request === 'string') connection.socket.write(request, 'latin1');
    else connection.socket.write(request);
  }

  #answer(connection: Connection, reader: ResponseReader, status: number, bodyBytes: number): void {
    const now = performance.now();
    connection.busy = false;
    this.#answered += 1;
    if (status !== this.#plan.status) {
      this.#errors += 1;
      this.#keepError(reader, status, bodyBytes);
    }
    if (this.#plan.versionsOf !== undefined) {
      connection.version = versionIn(reader.kept ?? []) ?? connection.version;
      reader.kept = [];
    }
    const measured = this.#answered - this.#plan.warmUp;
    if (measured > 0) {
      this.#latencies[measured - 1] = now - connection.sentAt;
      this.#bodyBytes += bodyBytes;
    }
    if (measured === 0) this.#begin();
    if (measured === this.#plan.requests) {
      this.#endedAt = now;
      this.#onPhase('end');
      this.#finish?.();
    } else {
      this.#send(connection);
    }
  }

  /**
   * Records the status of the first response with another status, and the body of the next one on the same connection.
   */
  #keepError(reader: ResponseReader, status: number, bodyBytes: number): void {
    if (reader.kept === undefined) {
      if (this.#error === undefined) reader.kept = [];
      this.#error ??= `status ${status.toString()}, ${bodyBytes.toString()} bytes`;
    } else if (reader.kept.length > 0) {
      this.#error = `status ${status.toString()}: ${Buffer.concat(reader.kept).toString('utf8').slice(-500)}`;
      reader.kept = undefined;
    }
  }

  #result(): LoadResult {
    const { requests } = this.#plan;
    const sorted = this.#latencies.sort();
    const seconds = (this.#endedAt - this.#beganAt) / 1_000;
    return {
      requests,
      seconds,
      perSecond: requests / seconds,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: sorted.at(-1) ?? 0,
      errors: this.#errors,
      error: this.#error,
      bodyBytes: this.#bodyBytes,
      next: this.#places.n,
      nextOf: this.#connections.map(({ k }) => k),
      versionsOf: this.#connections.map(({ version }) => version),
    };
  }
}

/** The resourceVersion of the object in a response. */
function versionIn(body: readonly Buffer[]): string | undefined {
  return /"resourceVersion":"(\d+)"/u.exec(Buffer.concat(body).toString('latin1'))?.[1];
}

/** The smallest value of the ascending `sorted` that at least `share` of all values do not exceed. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
