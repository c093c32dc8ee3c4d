import { writeSync } from 'node:fs';
import type * as Inspector from 'node:inspector';
import { hostname } from 'node:os';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';

import { systemClock } from '../../base/clock.ts';
import {
  eventLoopBeatMs,
  eventLoopHeldMs,
  eventLoopReportFactor,
  eventLoopReportMsMax,
  eventLoopWatcherLateMs,
} from './event-loop-limits.ts';
import { ownerOf, type CodeFolder } from '../../plugin/errors/error-attribution.ts';
import { sourcePlace } from '../../plugin/errors/source-maps.ts';

/**
 * The data of the thread that watches the event loop of the main thread. This thread can log while the main thread is
 * blocked, and uses the inspector only then.
 */
export type WatcherStart = {
  readonly port: MessagePort;
  /** Cells in shared memory. Each thread writes its own cell and reads the other thread's cell. */
  readonly cells: Int32Array;
  /** The lowest level that is logged, as a pino number. */
  readonly level: number;
  readonly fd: number;
};
export const cellCount = 2;
/** The index of the cell with the number of beats of the event loop. */
export const beatCell = 0;
/** The index of the cell with the observed milliseconds, without suspensions of the process. Overflows at 32 bits. */
export const watchedMsCell = 1;

/** The plugin that blocks the event loop after this beat; undefined without a plugin in the call stack. */
export type Found = {
  readonly beat: number;
  readonly plugin: string | undefined;
};

export function isFound(message: unknown): message is Found {
  return typeof message === 'object' && message !== null && 'beat' in message && 'plugin' in message;
}

export const eventLoopWorkerUrl: string = import.meta.url;

const warnLevel = 40;
type Frame = {
  readonly functionName: string;
  readonly url: string;
  readonly line: number;
  readonly column: number;
};

class Watcher {
  readonly #start: WatcherStart;
  readonly #inspector: typeof Inspector | undefined;
  #suspects: readonly CodeFolder[] = [];
  #beat = 0;
  /** The time since the last beat, without suspensions of this thread. */
  #heldMs = 0;
  #reportAtMs = eventLoopHeldMs;
  #tickedAt = systemClock.monotonic();
  /** Defined while the inspector is queried. */
  #session: Inspector.Session | undefined;

  constructor(start: WatcherStart, inspector: typeof Inspector | undefined) {
    this.#start = start;
    this.#inspector = inspector;
    start.port.on('message', (suspects: readonly CodeFolder[]) => {
      this.#suspects = suspects;
    });
  }

  tick(): void {
    const { cells } = this.#start;
    const now = systemClock.monotonic();
    const passedMs = now - this.#tickedAt;
    this.#tickedAt = now;
    const isAwake = passedMs <= eventLoopBeatMs + eventLoopWatcherLateMs;
    if (isAwake) Atomics.add(cells, watchedMsCell, Math.round(passedMs));
    const beat = Atomics.load(cells, beatCell);
    if (beat === this.#beat) {
      this.#heldMs += isAwake ? passedMs : 0;
    } else {
      this.#beat = beat;
      this.#heldMs = 0;
      this.#reportAtMs = eventLoopHeldMs;
      this.#hangUp();
    }
    // The next beat is due after `eventLoopBeatMs`, so only later time is a delay.
    if (beat > 0 && this.#heldMs - eventLoopBeatMs >= this.#reportAtMs && this.#session === undefined) this.#pause();
    systemClock.after(eventLoopBeatMs, () => {
      this.tick();
    });
  }

  #pause(): void {
    if (this.#inspector === undefined) {
      this.#report(undefined);
      return;
    }
    const session = new this.#inspector.Session();
    this.#session = session;
    let isRequested = false;
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
      urls.set(scriptId, url);
    });
    session.on('Debugger.paused', ({ params: { callFrames } }) => {
      // A pause before the request belongs to another debugger, which must resume the event loop.
      if (isRequested) session.post('Debugger.resume');
      if (session !== this.#session) return;
      const isHeld = Atomics.load(this.#start.cells, beatCell) === this.#beat;
      const frames = callFrames.map(({ functionName, location: { scriptId, lineNumber, columnNumber = 0 } }) => ({
        functionName,
        url: urls.get(scriptId) ?? '',
        line: lineNumber + 1,
        column: columnNumber + 1,
      }));
      if (isHeld) this.#report(isRequested ? frames : []);
      this.#hangUp();
    });
    try {
      session.connectToMainThread();
      // The pause is requested before the reply to `Debugger.enable`, because a block by native code may end during a
      // wait for the reply.
      session.post('Debugger.enable', () => {
        isRequested = true;
      });
      session.post('Debugger.pause');
    } catch {
      this.#report(undefined);
    }
  }

  /** Disconnects the inspector, which also cancels a requested pause. */
  #hangUp(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.disconnect();
  }

  /**
   * Reports the block to the main thread and in the log. `frames` is the call stack, innermost frame first; undefined
   * if the stack is unknown.
   */
  #report(frames: readonly Frame[] | undefined): void {
    const owned = frames?.map((frame) => ({ frame, suspect: ownerOf(frame.url, this.#suspects) })) ?? [];
    const { frame = frames?.[0], suspect } = owned.find((each) => each.suspect !== undefined) ?? {};
    const found: Found = { beat: this.#beat, plugin: suspect?.name };
    this.#start.port.postMessage(found);
    this.#reportAtMs = Math.min(this.#reportAtMs * eventLoopReportFactor, this.#reportAtMs + eventLoopReportMsMax);
    this.#write(
      {
        ...(suspect === undefined ? {} : { plugin: suspect.name }),
        heldMs: Math.round(this.#heldMs - eventLoopBeatMs),
        ...(frame === undefined
          ? {}
          : { at: placeOf(frame, suspect), function: frame.functionName === '' ? 'anonymous' : frame.functionName }),
      },
      suspect === undefined
        ? 'the event loop is blocked: no other code runs'
        : 'a plugin blocks the event loop: no other code runs',
    );
  }

  /** Writes directly to the file, because other writes need the blocked thread. */
  #write(members: Readonly<Record<string, unknown>>, msg: string): void {
    const { level, fd } = this.#start;
    if (level > warnLevel) return;
    const time = new Date(systemClock.now()).toISOString();
    try {
      writeSync(
        fd,
        `${JSON.stringify({
          level: warnLevel,
          time,
          pid: process.pid,
          hostname: hostname(),
          ...members,
          msg,
        })}\n`,
      );
    } catch {
      // The line is lost if the reader of the log has closed the file or is stalled.
    }
  }
}

/** Returns the position in a file. The path of a plugin's file is relative to the plugin's folder. */
function placeOf({ url, line, column }: Frame, suspect: CodeFolder | undefined): string {
  // The query of a plugin module's URL is the digest of the plugin's files.
  const path = decodeURI(url.replace(/^file:\/\//u, '').replace(/[?#].*$/u, ''));
  if (suspect === undefined || !path.startsWith(suspect.folder)) return `${path}:${String(line)}:${String(column)}`;
  const found = sourcePlace({ path, line, column }, suspect.folder) ?? { path, line, column };
  return `${found.path.slice(suspect.folder.length + 1)}:${String(found.line)}:${String(found.column)}`;
}

/** Some builds of Node lack the inspector. Only the duration of a block is then logged. */
async function inspectorIfAny(): Promise<typeof Inspector | undefined> {
  return import('node:inspector').catch(() => undefined);
}

if (parentPort !== null) new Watcher(workerData as WatcherStart, await inspectorIfAny()).tick();
