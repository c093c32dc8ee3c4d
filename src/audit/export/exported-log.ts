import { exportCheckpointLeaves, exportPieceBytes } from '../../limits/audit.ts';
import { logStart } from '../../log/log.ts';
import type { CategoryFilter, EventLog, LogIdentity, LogPosition, RecordedEvent } from '../../log/log.ts';
import type { TreeReader } from '../../read/tree.ts';
import type { Pace } from '../object-history.ts';
import { parseCheckpoint } from '../proof/checkpoint.ts';
import { exportFormat, exportLine, shownData, type ExportRecord } from '../proof/export-lines.ts';
import { isLeafStream } from '../proof/leaf-entry.ts';
import { nodesOf, type Hash } from '../proof/merkle.ts';
import { parseNote } from '../proof/signed-note.ts';
import type { LeafRange } from './leaf-range.ts';

export type ExportedLogDependencies = {
  readonly log: Pick<EventLog, 'readAll'>;
  readonly tree: TreeReader;
  readonly identity: () => LogIdentity;
  /** The categories of all events that are leaves of the audit tree. */
  readonly categories: CategoryFilter;
};

export type ExportRequest = {
  readonly range: LeafRange;
  /** A signed checkpoint of a tree with all leaves of the range. */
  readonly checkpoint: string;
};

/** The log lacks events that this node has folded into its tree. */
export class ExportMismatchError extends Error {
  constructor(detail: string) {
    super(`the events in the log differ from the events that this node has folded: ${detail}`);
    this.name = 'ExportMismatchError';
  }
}

type ExportControl = {
  readonly pace: Pace;
  readonly signal: AbortSignal;
};

/**
 * Yields the lines of an export (docs/audit-proof.md), several at a time. Reads the log only as fast as the reader
 * takes the pieces. If `signal` aborts, the generator ends early without an error.
 *
 * @throws ExportMismatchError, or an error of the log.
 */
export async function* exportedLog(
  { range, checkpoint }: ExportRequest,
  dependencies: ExportedLogDependencies,
  { pace, signal }: ExportControl,
): AsyncGenerator<Uint8Array> {
  const { from, until } = range;
  const { tree, identity } = dependencies;
  const { logId: log, epoch } = identity();
  const left = nodesOf(0, from).map(tree.nodeHash);
  yield exportLine({
    kind: 'Export',
    format: exportFormat,
    log,
    epoch,
    origin: tree.origin(),
    from,
    until,
    left,
  });
  yield* exportedEvents(range, dependencies, { pace, signal });
  if (!signal.aborted) yield exportLine(endOf(until, checkpoint, tree));
}

async function* exportedEvents(
  { from, until }: LeafRange,
  { log, tree, categories }: ExportedLogDependencies,
  { pace, signal }: ExportControl,
): AsyncGenerator<Uint8Array> {
  if (from === until) return;
  const [after, last] = [from === 0 ? logStart : tree.positionOf(from - 1), tree.positionOf(until - 1)];
  let [index, bytes, position]: [number, number, LogPosition] = [from, 0, after];
  let piece: Uint8Array[] = [];
  const turn = async (): Promise<void> => pace.next();
  for await (const batch of log.readAll({ after, until: last, categories, signal, turn })) {
    for (const recorded of batch) {
      if (!isLeafStream(recorded.stream)) continue;
      const lines = linesOf(index, recorded, { from, tree });
      index += 1;
      position = recorded.position;
      piece.push(...lines);
      for (const line of lines) bytes += line.length;
      if (bytes >= exportPieceBytes) {
        yield Buffer.concat(piece);
        [piece, bytes] = [[], 0];
        // The reader may resume this generator long after the slice began, so a new slice begins here.
        await pace.next();
      } else if (pace.isOver()) await pace.next();
    }
  }
  if (signal.aborted) return;
  if (index !== until || position !== last)
    throw new ExportMismatchError(
      `the leaves ${String(from)} to ${String(until - 1)} of the tree end at position ${String(last)}, but the log ` +
        `has ${String(index - from)} leaves in this range, the last one at position ${String(position)}`,
    );
  yield Buffer.concat(piece);
}

/**
 * Returns the line of an event. For each `exportCheckpointLeaves`-th leaf except the first leaf of the export, a
 * checkpoint precedes this line, so that a verifier can locate a changed event.
 */
function linesOf(
  index: number,
  recorded: RecordedEvent,
  { from, tree }: { readonly from: number; readonly tree: TreeReader },
): readonly Uint8Array[] {
  const line = exportLine(eventOf(index, recorded));
  if (index === from || index % exportCheckpointLeaves !== 0) return [line];
  return [exportLine({ kind: 'Checkpoint', checkpoint: tree.earlierCheckpoint(index) }), line];
}

function eventOf(index: number, { position, stream, revision, id, type, metadata, data }: RecordedEvent): ExportRecord {
  return {
    kind: 'Event',
    index,
    position,
    stream,
    revision,
    id,
    type,
    metadata,
    data: shownData(stream, data),
  };
}

function endOf(until: number, checkpoint: string, tree: TreeReader): ExportRecord {
  const size = parseCheckpoint(parseNote(checkpoint)?.text ?? '')?.size;
  if (size === undefined) throw new Error('the signed note is not a checkpoint');
  const right: readonly Hash[] = nodesOf(until, size).map(tree.nodeHash);
  return { kind: 'End', right, checkpoint };
}
