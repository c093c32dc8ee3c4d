import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { unfinishedLoadsMax } from '../../limits/plugins.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';

/** The digest of a plugin's files, and the generation of its object if known. */
export type Load = { readonly plugin: string; readonly digest: string; readonly generation: JsonValue | undefined };

/** For one plugin: the files, the generation of its object, and the processes that ended while they loaded them. */
type Mark = { readonly digest: string; readonly generation: JsonValue; readonly boots: readonly string[] };

/**
 * A marker file for each plugin while its module loads. A module that loops or ends the process leaves its marker
 * behind for the next process to find. After `unfinishedLoadsMax` such processes the module is not loaded until its
 * files or its object change, so that a plugin cannot prevent the server from starting.
 */
export class LoadMarks {
  readonly #dir: string;
  /** The id of this process: repeated loads in one process count once. */
  readonly #boot: string;
  readonly #log: PluginLogger;
  readonly #loading = new Set<string>();

  /** `dir` must not be used by anything else. */
  constructor(dir: string, boot: string, log: PluginLogger) {
    this.#dir = dir;
    this.#boot = boot;
    this.#log = log;
  }

  /** Call it in the turn before the module runs. Returns the reason why it must not run. */
  begin({ plugin, digest, generation = null }: Load): Failure | undefined {
    const before = this.#read(plugin);
    const isSame = before?.digest === digest && !isOther(before.generation, generation);
    const boots = isSame ? before.boots.filter((boot) => boot !== this.#boot) : [];
    if (boots.length >= unfinishedLoadsMax) return unfinished(plugin, boots.length);
    this.#loading.add(plugin);
    this.#write(plugin, {
      digest,
      generation: generation ?? (isSame ? before.generation : null),
      boots: [...boots, this.#boot],
    });
    return undefined;
  }

  /** Removes the marker: the process survived the load, successful or not. */
  end(plugin: string): void {
    if (!this.#loading.delete(plugin)) return;
    try {
      rmSync(this.#pathOf(plugin), { force: true });
    } catch (error) {
      this.#log.warn('cannot remove the load mark of a plugin', { plugin, error: String(error) });
    }
  }

  /** Removes the markers at an orderly exit, since a loading module did not cause it. */
  close(): void {
    for (const plugin of this.#loading) this.end(plugin);
  }

  #read(plugin: string): Mark | undefined {
    let text: Buffer;
    try {
      text = readFileSync(this.#pathOf(plugin));
    } catch {
      return undefined;
    }
    // A file truncated by a crash of the machine is ignored.
    const decoded = decodeJson(text, { depthMax: jsonDepthMax });
    return decoded.ok ? decodeMark(decoded.value) : undefined;
  }

  /** Written atomically. If the write fails, the plugin loads without a marker. */
  #write(plugin: string, mark: Mark): void {
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      const draft = join(this.#dir, '.draft');
      writeFileSync(draft, JSON.stringify(mark), { mode: 0o600 });
      renameSync(draft, this.#pathOf(plugin));
    } catch (error) {
      this.#log.warn('loading a plugin without a load mark: cannot write the mark', { plugin, error: String(error) });
    }
  }

  /** A plugin's name is a DNS subdomain of at most 253 characters. */
  #pathOf(plugin: string): string {
    return join(this.#dir, plugin);
  }
}

/** Whether two generations differ; false while one is unknown, which is so before the read models are open. */
function isOther(before: JsonValue, now: JsonValue): boolean {
  return before !== null && now !== null && before !== now;
}

function decodeMark(value: JsonValue): Mark | undefined {
  if (!isObject(value)) return undefined;
  const { digest, generation = null, boots } = value;
  if (typeof digest !== 'string' || !isStrings(boots)) return undefined;
  return { digest, generation, boots };
}

function isStrings(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function unfinished(plugin: string, count: number): Failure {
  const message =
    `the server ended ${String(count)} times while loading these files and does not load them again: ` +
    `replace the files, or retry with "ledgerplane plugin enable ${plugin}"`;
  return { reason: 'LoadUnfinished', message };
}
