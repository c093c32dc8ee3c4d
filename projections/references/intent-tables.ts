import type { PendingIntent } from '../../src/read/references/reference-reader.ts';
import { logPosition } from '../../src/log/log.ts';
import type { Intent, IntentWriter } from './fold-intent.ts';
import { range, type TextTable } from './reference-tables.ts';

/** The streams of the intents of an object (`<type>/<name>`): to name other objects, and to delete the object. */
export function intentStreams(object: string): readonly [string, string] {
  return [`ref:${object}`, `closing:${object}`];
}

/**
 * The intents with appends that may be pending (docs/spec/consistency.md, 9), in the table of references:
 *
 * - `intent <stream> <revision>` → `<through> <position>`, and the targets, each after a space;
 * - `named <target> <stream> <revision>` → `<through> <position>`.
 *
 * Names, and keys of types, contain no space. An event of the intent's object after the revision `through` drops the
 * intent.
 */
export class IntentTables implements IntentWriter {
  readonly #table: TextTable;
  /** The streams that may have intents in the table, so that events of other objects need no access to the table. */
  readonly #streams = new Set<string>();
  /** The streams from which the open transaction drops the last intent. */
  readonly #emptied = new Set<string>();

  constructor(table: TextTable) {
    this.#table = table;
    for (const key of table.getKeys(prefixRange('intent '))) this.#streams.add(key.split(' ')[1] ?? '');
  }

  /** The number of streams that may have intents. */
  streams(): number {
    return this.#streams.size;
  }

  /** Call `clear` after the table was cleared. */
  clear(): void {
    this.#streams.clear();
  }

  begin(): void {
    this.#emptied.clear();
  }

  /** Must be called after the commit of the transaction. */
  keep(): void {
    for (const stream of this.#emptied) this.#streams.delete(stream);
  }

  putIntent(intent: Intent): void {
    const { stream, revision, position, through, targets } = intent;
    this.#streams.add(stream);
    this.#emptied.delete(stream);
    const value = `${String(through)} ${position.toString()}`;
    this.#table.putSync(intentKey(intent), [value, ...targets].join(' '));
    for (const target of targets) this.#table.putSync(namedKey(target, { stream, revision }), value);
  }

  withdrawIntent(intent: Pick<Intent, 'stream' | 'revision'>): void {
    const text = this.#table.get(intentKey(intent));
    if (text === undefined) return;
    this.#drop(intent, decoded(text));
    if ([...this.#ofStream(intent.stream)].length === 0) this.#emptied.add(intent.stream);
  }

  /** Drops the intents of the object `<type>/<name>` that the object's event at `revision` ends. */
  drop(object: string, revision: number): void {
    if (this.#streams.size === 0) return;
    for (const stream of intentStreams(object)) if (this.#streams.has(stream)) this.#end(stream, revision);
  }

  #end(stream: string, revision: number): void {
    const intents = [...this.#ofStream(stream)];
    const ended = intents.filter(({ stored }) => stored.through < revision);
    for (const { key, stored } of ended) this.#drop({ stream, revision: revisionIn(key) }, stored);
    if (ended.length === intents.length) this.#emptied.add(stream);
  }

  #drop(intent: Pick<Intent, 'stream' | 'revision'>, { targets }: Stored): void {
    this.#table.removeSync(intentKey(intent));
    for (const target of targets) this.#table.removeSync(namedKey(target, intent));
  }

  /** The intents of deletions of an object `<type>/<name>`. */
  closings(object: string): readonly PendingIntent[] {
    if (this.#streams.size === 0) return [];
    return [...this.#ofStream(`closing:${object}`)].map(({ stored: { through, position } }) => ({
      object,
      through,
      position,
    }));
  }

  /** The intents of writes that will name the object `<type>/<name>`. */
  naming(target: string): readonly PendingIntent[] {
    if (this.#streams.size === 0) return [];
    const prefix = `named ${target} ref:`;
    return [...this.#table.getRange(prefixRange(prefix))].map(({ key, value }) => {
      const [object = ''] = key.slice(prefix.length).split(' ');
      const { through, position } = decoded(value);
      return { object, through, position };
    });
  }

  *#ofStream(stream: string): Iterable<{ readonly key: string; readonly stored: Stored }> {
    for (const { key, value } of this.#table.getRange(prefixRange(`intent ${stream} `)))
      yield { key, stored: decoded(value) };
  }
}

type Stored = Pick<Intent, 'through' | 'position' | 'targets'>;

function prefixRange(prefix: string): ReturnType<typeof range> {
  return range(prefix, { limit: Number.MAX_SAFE_INTEGER });
}

function decoded(text: string): Stored {
  const [through = '', position = '', ...targets] = text.split(' ');
  return { through: Number(through), position: logPosition(BigInt(position)), targets };
}

function intentKey({ stream, revision }: Pick<Intent, 'stream' | 'revision'>): string {
  return `intent ${stream} ${String(revision)}`;
}

function namedKey(target: string, { stream, revision }: Pick<Intent, 'stream' | 'revision'>): string {
  return `named ${target} ${stream} ${String(revision)}`;
}

function revisionIn(key: string): number {
  return Number(key.slice(key.lastIndexOf(' ') + 1));
}
