import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { unfinishedLoadsMax } from '../../limits/plugins.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';

/**
 * A load of a plugin. `digest` is the digest of the files. `generation` is the generation of the Plugin object;
 * undefined if unknown.
 */
export type Load = {
  readonly plugin: string;
  readonly digest: string;
  readonly generation: JsonValue | undefined;
};

/**
 * The content of a marker file. `digest` is the digest of the files. `generation` is the generation of the Plugin
 * object; null if unknown. `boots` contains the ids of the processes with an unfinished load of these files.
 */
type Mark = {
  readonly digest: string;
  readonly generation: JsonValue;
  readonly boots: readonly string[];
};

/**
 * Writes a marker file for each plugin while its module loads. The marker file remains if the module loops or ends the
 * process. After `unfinishedLoadsMax` such processes, the module is not loaded until the plugin's files or object
 * change. Thus a plugin cannot prevent the server from starting.
 */
export class LoadMarks {
  readonly #dir: string;
  /** The id of this process, so that repeated loads in one process are counted once. */
  readonly #boot: string;
  readonly #log: PluginLogger;
  readonly #loading = new Set<string>();

  /** `dir` must not be used for any other purpose. */
  constructor(dir: string, boot: string, log: PluginLogger) {
    this.#dir = dir;
    this.#boot = boot;
    this.#log = log;
  }

  /**
   * Writes the marker. Call `begin` immediately before the module runs. If the module must not run, returns the
   * failure, and does not write the marker.
   */
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

  /** Removes the marker after a load that did not end the process, whether the load succeeded or failed. */
  end(plugin: string): void {
    if (!this.#loading.delete(plugin)) return;
    try {
      rmSync(this.#pathOf(plugin), { force: true });
    } catch (error) {
      this.#log.warn('cannot remove the marker file of a plugin after its load', { plugin, error: String(error) });
    }
  }

  /** Removes the markers of all current loads. Call `close` at an orderly exit, which no loading module caused. */
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
    // Ignores an invalid file, for example a file that a crash of the machine truncated.
    const decoded = decodeJson(text, { depthMax: jsonDepthMax });
    return decoded.ok ? decodeMark(decoded.value) : undefined;
  }

  /** Writes a marker atomically. If the write fails, the plugin loads without a marker. */
  #write(plugin: string, mark: Mark): void {
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      const draft = join(this.#dir, '.draft');
      writeFileSync(draft, JSON.stringify(mark), { mode: 0o600 });
      renameSync(draft, this.#pathOf(plugin));
    } catch (error) {
      this.#log.warn('cannot write the marker file of a plugin; loading without it', { plugin, error: String(error) });
    }
  }

  /** A plugin's name is a valid file name: a DNS subdomain of at most 253 characters. */
  #pathOf(plugin: string): string {
    return join(this.#dir, plugin);
  }
}

/** Returns whether two generations differ; false if an unknown generation (null) is compared. */
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
    `the server ended ${String(count)} times while loading the plugin's files, and does not load these files again: ` +
    `replace the files, or retry with "ledgerplane plugin enable ${plugin}"`;
  return { reason: 'LoadUnfinished', message };
}
