import { replayWriteBytesMax } from '../../src/limits/replay.ts';
import {
  LogCorruptError,
  type EventLog,
  type LogPosition,
  type StreamName,
  type StreamRevision,
} from '../../src/log/log.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { rowAfter } from '../fold-event.ts';
import type { RowAfter } from '../references/fold-references.ts';
import type { LmdbTables, Writer } from '../lmdb-tables.ts';
import type { RebuildOptions } from './rebuild.ts';

/** The last event of an object's stream. `revision` is undefined if the stream has no event yet. */
export type Last = {
  readonly type: TypeKey;
  readonly name: string;
  revision: StreamRevision | undefined;
  position: LogPosition;
  /** The revision of the declaration under which the event was decided, if the object is live. */
  declared: number | undefined;
  isLive: boolean;
  /** Whether the table of deleted names has the name. */
  readonly isGone: boolean;
  /** Whether the table of references contains references of the object. */
  readonly hadReferences: boolean;
};

export type WritePorts = {
  /** The log from which the events were read. */
  readonly log: Pick<EventLog, 'readAt'>;
  readonly tables: Pick<LmdbTables, 'commit'>;
  /** Called after each transaction; may throw to end the work. */
  readonly onStep: RebuildOptions['onBatch'];
};

type Written = {
  readonly last: Last;
  readonly after: RowAfter | undefined;
};

/** Writes the row of each live object, from its last event, and the last revision of each name without an object. */
export async function writeLasts(
  lasts: ReadonlyMap<StreamName, Last>,
  { log, tables, onStep }: WritePorts,
): Promise<void> {
  // LMDB fills its pages faster in the order of keys.
  const sorted = [...lasts].sort(([one], [other]) => (one < other ? -1 : 1));
  let [batch, bytes, done]: [Written[], number, number] = [[], 0, 0];
  const write = async (): Promise<void> => {
    tables.commit((writer) => {
      for (const written of batch) writeLast(writer, written);
    });
    done += batch.length;
    [batch, bytes] = [[], 0];
    await onStep({ done, all: sorted.length });
  };
  for (const [stream, last] of sorted) {
    const after = last.isLive ? await rowOf(stream, last, log) : undefined;
    batch.push({ last, after });
    bytes += nameBytes + (after?.row.length ?? 0);
    if (bytes >= replayWriteBytesMax) await write();
  }
  await write();
}

/** The estimated bytes in memory of a name. */
const nameBytes = 64;

async function rowOf(
  stream: StreamName,
  { revision, position }: Last,
  log: Pick<EventLog, 'readAt'>,
): Promise<RowAfter> {
  const recorded = await log.readAt(position);
  const row = recorded?.stream === stream && recorded.revision === revision ? rowAfter(recorded) : undefined;
  if (row === undefined)
    throw new LogCorruptError(
      `the log changed during the replay: position ${String(position)} no longer has the replayed event of ${stream}`,
    );
  return row;
}

function writeLast(writer: Writer, { last: { type, name, revision, isGone, hadReferences }, after }: Written): void {
  const refs = after?.refs ?? [];
  if (refs.length > 0 || hadReferences) writer.putReferences(type, name, refs);
  if (after !== undefined) writer.putRow(type, name, after.row, { recreated: isGone });
  else if (revision !== undefined) writer.putDeleted(type, name, revision);
}
