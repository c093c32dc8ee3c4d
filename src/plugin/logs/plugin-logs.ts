import { messageOf } from '../../base/error-message.ts';
import { pluginLogBytesMax, pluginLogLineBytesMax, pluginLogsBytesMax } from '../../limits/plugins.ts';
import type { PluginLogLines, PluginLogPage } from '../api/plugin-log-lines.ts';

/** A log line of a plugin. `time`: milliseconds since the epoch. */
export type LoggedLine = {
  readonly time: number;
  readonly level: string;
  /** A string, unless the plugin passes another value. */
  readonly message: unknown;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
};

/** The lines of one plugin. `first` is the number of the oldest line. Lines are numbered from 0 without gaps. */
type Lines = {
  first: number;
  bytes: number;
  readonly kept: Uint8Array[];
};

/**
 * The last log lines of each plugin, in memory. A plugin above its limit loses its oldest lines. Above the limit for
 * all plugins, the plugin with the most bytes loses its oldest line. Thus a plugin that logs much does not displace the
 * lines of other plugins.
 */
export class PluginLogs implements PluginLogLines {
  /** The id of this process. A cursor with another id is from an earlier process. */
  readonly #process: string;
  readonly #byPlugin = new Map<string, Lines>();
  #bytes = 0;

  constructor(process: string) {
    this.#process = process;
  }

  record(plugin: string, line: LoggedLine): void {
    const bytes = encoded(line);
    const lines = this.#byPlugin.get(plugin) ?? { first: 0, bytes: 0, kept: [] };
    this.#byPlugin.set(plugin, lines);
    lines.kept.push(bytes);
    lines.bytes += bytes.length;
    this.#bytes += bytes.length;
    while (lines.bytes > pluginLogBytesMax) this.#drop(lines);
    while (this.#bytes > pluginLogsBytesMax) this.#drop(this.#largest(lines));
  }

  read(plugin: string, after: string | undefined): PluginLogPage | undefined {
    const lines = this.#byPlugin.get(plugin);
    if (lines === undefined) return undefined;
    const end = lines.first + lines.kept.length;
    const from = Math.min(this.#numberIn(after), end);
    return {
      lines: lines.kept.slice(Math.max(0, from - lines.first)),
      cursor: `${this.#process}.${String(end)}`,
      dropped: Math.max(0, lines.first - from),
    };
  }

  #drop(lines: Lines): void {
    const dropped = lines.kept.shift();
    if (dropped === undefined) return;
    lines.first += 1;
    lines.bytes -= dropped.length;
    this.#bytes -= dropped.length;
  }

  #largest(start: Lines): Lines {
    let largest = start;
    for (const lines of this.#byPlugin.values()) if (lines.bytes > largest.bytes) largest = lines;
    return largest;
  }

  /** Returns the number of the first line after the cursor; 0 without a cursor of this process. */
  #numberIn(after: string | undefined): number {
    const prefix = `${this.#process}.`;
    return after?.startsWith(prefix) === true && /^[0-9]{1,15}$/u.test(after.slice(prefix.length))
      ? Number(after.slice(prefix.length))
      : 0;
  }
}

function encoded({ time, level, message: given, fields }: LoggedLine): Uint8Array {
  const message = textOf(given);
  const head = { time: new Date(time).toISOString(), level };
  const whole = Buffer.from(jsonOf({ ...head, message, fields }));
  if (whole.length <= pluginLogLineBytesMax) return whole;
  const note = { ...head, isShortened: true };
  const rest = pluginLogLineBytesMax - Buffer.byteLength(jsonOf({ ...note, message: '' }));
  // Shortens the message so that it fits even if each character needs an escape of six bytes in JSON.
  return Buffer.from(jsonOf({ ...note, message: message.slice(0, Math.floor(rest / 6)) }));
}

function textOf(message: unknown): string {
  try {
    return String(message);
  } catch {
    return 'a message that cannot be printed';
  }
}

/**
 * Returns a line as JSON. A text replaces fields that cannot be converted, because of a member that throws, a cycle or
 * a big integer.
 */
function jsonOf(line: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(line);
  } catch (error) {
    const { fields: _fields, ...rest } = line;
    return JSON.stringify({ ...rest, fields: `not shown: ${messageOf(error)}` });
  }
}
