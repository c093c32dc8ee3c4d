import type { ObjectEvent } from '../../src/command/event.ts';
import { referencesOf } from '../../src/log/event-references.ts';
import type { StreamRevision } from '../../src/log/log.ts';
import type { HeldReference } from '../../src/resource/references/named-targets.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { hasReferences } from '../row.ts';
import type { Writer } from '../lmdb-tables.ts';

/** The row of an object after an event, with the references of the object. */
export type RowAfter = {
  readonly row: Buffer;
  readonly refs: readonly HeldReference[];
};

type Folded = {
  readonly type: TypeKey;
  readonly name: string;
  readonly revision: StreamRevision;
  readonly previous: Buffer | undefined;
};

/** Writes the references of an object after an event, and drops the intents that the event ends. */
export function foldReferences(
  event: ObjectEvent,
  { type, name, revision, previous }: Folded,
  writer: Pick<Writer, 'putReferences' | 'dropIntents'>,
): void {
  writer.dropIntents(type, name, revision);
  const refs = referencesOf(event);
  if (refs.length > 0 || (previous !== undefined && hasReferences(previous))) writer.putReferences(type, name, refs);
}
