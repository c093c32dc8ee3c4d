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

/**
 * Watches the event loop from its own thread, which can log while the loop is blocked. The inspector is used only once
 * the loop is late, so there is no cost otherwise.
 */
export type WatcherStart = {
  readonly port: MessagePort;
  /** Cells in shared memory. Each thread writes its own cells and reads those of the other thread. */
  readonly cells: Int32Array;
  /** The lowest log level. */
  readonly level: number;
  readonly fd: number;
};
export const cellCount = 2;
/** The cell of the number of beats of the loop. */
export const beatCell = 0;
/** The cell of the milliseconds of observation, wrapping around, without suspensions of the whole process. */
export const watchedMsCell = 1;

/** The plugin found while the loop was at this beat. */
export type Found = { readonly beat: number; readonly plugin: string | undefined };

export function isFound(message: unknown): message is Found {
  return typeof message === 'object' && message !== null && 'beat' in message && 'plugin' in message;
}

export const eventLoopWorkerUrl: string = import.meta.url;

const warnLevel = 40;
type Frame = { readonly functionName: string; readonly url: string; readonly line: number; readonly column: number };

class Watcher {
  readonly #start: WatcherStart;
  readonly #inspector: typeof Inspector | undefined;
  #suspects: readonly CodeFolder[] = [];
  #beat = 0;
  /** The time since that beat, without suspensions of this thread. */
  #heldMs = 0;
  #reportAtMs = eventLoopHeldMs;
  #tickedAt = systemClock.monotonic();
  /** Open while the inspector is queried. */
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
    // A beat is late by the time since its due time.
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
      // A debugger paused the loop before the request, and must resume it.
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
      // Sends both requests at once: a call of native code may end between them.
      session.post('Debugger.enable', () => {
        isRequested = true;
      });
      session.post('Debugger.pause');
    } catch {
      this.#report(undefined);
    }
  }

  /** Also cancels a requested pause that has not happened. */
  #hangUp(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.disconnect();
  }

  /** `frames`: innermost first; undefined when they could not be determined. */
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
        ? 'the event loop is blocked: nothing else runs'
        : 'a plugin blocks the event loop: nothing else runs',
    );
  }

  /** Writes directly to the file: all other ways go through the blocked thread. */
  #write(members: Readonly<Record<string, unknown>>, msg: string): void {
    const { level, fd } = this.#start;
    if (level > warnLevel) return;
    const time = new Date(systemClock.now()).toISOString();
    try {
      writeSync(
        fd,
        `${JSON.stringify({ level: warnLevel, time, pid: process.pid, hostname: hostname(), ...members, msg })}\n`,
      );
    } catch {
      // The reader of the log has closed it or is stalled, so the line is lost.
    }
  }
}

/** A plugin's path within its folder. */
function placeOf({ url, line, column }: Frame, suspect: CodeFolder | undefined): string {
  // URLs of plugin modules have the digest of their files as a query.
  const path = decodeURI(url.replace(/^file:\/\//u, '').replace(/[?#].*$/u, ''));
  const inner = suspect !== undefined && path.startsWith(suspect.folder) ? path.slice(suspect.folder.length + 1) : path;
  return `${inner}:${String(line)}:${String(column)}`;
}

/** A runtime may lack the inspector: then only the duration is logged. */
async function inspectorIfAny(): Promise<typeof Inspector | undefined> {
  return import('node:inspector').catch(() => undefined);
}

if (parentPort !== null) new Watcher(workerData as WatcherStart, await inspectorIfAny()).tick();
