import type { Intent, IntentWriter } from '../references/fold-intent.ts';
import { intentStreams } from '../references/intent-tables.ts';

/** The intents with appends that may be pending, in memory. Has the same intents as `IntentTables` after each event. */
export class PendingIntents implements IntentWriter {
  readonly #byStream = new Map<string, Map<number, Intent>>();
  #written: readonly Intent[] = [];

  putIntent(intent: Intent): void {
    const ofStream = this.#byStream.get(intent.stream) ?? new Map<number, Intent>();
    this.#byStream.set(intent.stream, ofStream.set(intent.revision, intent));
  }

  withdrawIntent({ stream, revision }: Pick<Intent, 'stream' | 'revision'>): void {
    const intents = this.#byStream.get(stream);
    intents?.delete(revision);
    if (intents?.size === 0) this.#byStream.delete(stream);
  }

  /** Drops the intents of the object `<type>/<name>` that the object's event at `revision` ends. */
  drop(object: string, revision: number): void {
    if (this.#byStream.size === 0) return;
    for (const stream of intentStreams(object)) {
      const intents = this.#byStream.get(stream);
      if (intents === undefined) continue;
      for (const [at, { through }] of intents) if (through < revision) intents.delete(at);
      if (intents.size === 0) this.#byStream.delete(stream);
    }
  }

  /** Writes the present intents, which replace the intents of the previous call. */
  write(writer: IntentWriter): void {
    for (const intent of this.#written) writer.withdrawIntent(intent);
    this.#written = [...this.#byStream.values()].flatMap((intents) => [...intents.values()]);
    for (const intent of this.#written) writer.putIntent(intent);
  }
}
