import type { IntentEvent } from '../../src/command/event.ts';
import { LogCorruptError, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';

/** An announced write or deletion of an object, to which strict references apply (docs/spec/consistency.md, 9). */
export type Intent = {
  /** The stream of the intent. */
  readonly stream: string;
  /** The revision of the intent in `stream`. */
  readonly revision: number;
  readonly position: LogPosition;
  /** An event of the object after the revision `through` ends the intent. */
  readonly through: number;
  /** The objects (`<type>/<name>`) that the write will name; empty for a deletion. */
  readonly targets: readonly string[];
};

export type IntentWriter = {
  putIntent(intent: Intent): void;
  withdrawIntent(intent: Pick<Intent, 'stream' | 'revision'>): void;
};

/** The category of the stream of each type of event. */
const categoryOf: Readonly<Record<Exclude<IntentEvent['type'], 'IntentWithdrawn'>, string>> = {
  ReferencesIntended: 'ref:',
  DeletionIntended: 'closing:',
};

export function foldIntent(recorded: RecordedEvent, event: IntentEvent, writer: IntentWriter): void {
  const { stream, revision, position } = recorded;
  const categories = event.type === 'IntentWithdrawn' ? Object.values(categoryOf) : [categoryOf[event.type]];
  if (!categories.some((category) => stream.startsWith(category)))
    throw new LogCorruptError(`${stream} contains a ${event.type} event, which does not belong to this stream`);
  if (event.type === 'IntentWithdrawn') {
    writer.withdrawIntent({ stream, revision: event.revision });
    return;
  }
  const targets = event.type === 'ReferencesIntended' ? event.targets : [];
  writer.putIntent({ stream, revision, position, through: event.through, targets });
}
