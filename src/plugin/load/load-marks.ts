import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { unfinishedLoadsMax } from '../../limits/plugins.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import { isObject } from './manifest.ts';
import type { Failure } from '../lifecycle/plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';

/** The files of a plugin by their digest, and the generation of its object as far as it is known. */
export type Load = { readonly plugin: string; readonly digest: string; readonly generation: JsonValue | undefined };

/** Of one plugin: which files, for which generation of its object, and the processes that began to load them and ended before. */
type Mark = { readonly digest: string; readonly generation: JsonValue; readonly boots: readonly string[] };

/**
 * A file for each plugin whose module is loading. A module that loops or ends the process leaves its file behind, so the next
 * process knows. After `unfinishedLoadsMax` processes the module is not loaded until its files or its object change, so that a
 * plugin cannot keep the server from starting.
 */
export class LoadMarks {
  readonly #dir: string;
  /** This process: a load that it repeats counts once. */
  readonly #boot: string;
  readonly #log: PluginLogger;
  readonly #loading = new Set<string>();

  /** `dir` is this class's alone. */
  constructor(dir: string, boot: string, log: PluginLogger) {
    this.#dir = dir;
    this.#boot = boot;
    this.#log = log;
  }

  /** Call in the turn before the module runs. Answers why it must not run. */
  begin({ plugin, digest, generation = null }: Load): Failure | undefined {
    const before = this.#read(plugin);
    const isSame = before?.digest === digest && !isOther(before.generation, generation);
    const boots = isSame ? before.boots.filter((boot) => boot !== this.#boot) : [];
    if (boots.length >= unfinishedLoadsMax) return unfinished(plugin, boots.length);
    this.#loading.add(plugin);
    this.#write(plugin, { digest, generation: generation ?? (isSame ? before.generation : null), boots: [...boots, this.#boot] });
    return undefined;
  }

  /** The process outlived it, whatever became of the module. */
  end(plugin: string): void {
    if (!this.#loading.delete(plugin)) return;
    try {
      rmSync(this.#pathOf(plugin), { force: true });
    } catch (error) {
      this.#log.warn('cannot remove the load mark of a plugin', { plugin, error: String(error) });
    }
  }

  /** A process that stops in order is held by no module. */
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
    // A file that was cut short by the end of the machine counts as none.
    const decoded = decodeJson(text, { depthMax: jsonDepthMax });
    return decoded.ok ? decodeMark(decoded.value) : undefined;
  }

  /** In one step. Where it cannot be written the plugin loads unmarked, as before. */
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

/** Not while one of them is unknown: before the read models are there no object is. */
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
  const message = `the server ended ${String(count)} times while loading these files and does not load them again: `
    + `replace the files, or retry with "ledgerplane plugin enable ${plugin}"`;
  return { reason: 'LoadUnfinished', message };
}
