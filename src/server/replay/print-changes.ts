import { objectOfRow } from '../../../projections/index/index-entries.ts';
import { merged } from '../../../projections/replay/merge-entries.ts';
import type { TablesSnapshot } from '../../../projections/lmdb-view.ts';
import { jsonLine } from '../../base/json-line.ts';
import { atOnce } from '../../base/steps.ts';
import { jsonDiff } from '../../resource/object/json-diff.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { Selected } from '../../read/replay.ts';
import { firstKey, isSelected, objectsPerReport, Pieces, placeOf, type PrintPorts } from './print-objects.ts';

type ComparedSnapshots = {
  readonly before: TablesSnapshot;
  readonly after: TablesSnapshot;
};

/** Sends the differences between two states of the selected objects, in the order of type and name. */
export async function printChanges(
  { before, after }: ComparedSnapshots,
  selected: Selected,
  ports: PrintPorts,
): Promise<void> {
  const pieces = new Pieces(ports);
  const from = firstKey(selected);
  let read = 0;
  for (const { key, left, right } of merged(before.entries('rows', from), after.entries('rows', from))) {
    const found = placeOf(key);
    if (!isSelected(found, selected)) break;
    read += 1;
    if (read % objectsPerReport === 0) ports.onRead(read);
    // A row contains the position of its last event, so equal rows prove that nothing was written.
    if (left !== undefined && right?.equals(left) === true) continue;
    for (const { change, ...more } of changesOf(objectIn(left), objectIn(right)))
      await pieces.add(found.type, jsonLine({ kind: 'Change', change, ...found, ...more }));
  }
  await pieces.flush();
}

function objectIn(row: Buffer | undefined): ResourceObject | undefined {
  return row === undefined ? undefined : objectOfRow(row);
}

type ObjectChange =
  | { readonly change: 'created' | 'deleted'; readonly object: ResourceObject }
  | { readonly change: 'changed'; readonly uid: string; readonly patch: readonly unknown[] };

/** Different uids mean that the first object was deleted and the second object was created. */
function changesOf(before: ResourceObject | undefined, after: ResourceObject | undefined): readonly ObjectChange[] {
  if (before !== undefined && after !== undefined && before.metadata.uid === after.metadata.uid)
    return [
      {
        change: 'changed',
        uid: after.metadata.uid,
        patch: atOnce(jsonDiff(before, after)),
      },
    ];
  return [
    ...(before === undefined ? [] : [{ change: 'deleted', object: before } as const]),
    ...(after === undefined ? [] : [{ change: 'created', object: after } as const]),
  ];
}
