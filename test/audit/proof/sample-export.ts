import { checkpointText } from '../../../src/audit/proof/checkpoint.ts';
import { CompactRange } from '../../../src/audit/proof/compact-range.ts';
import { exportLine, shownData } from '../../../src/audit/proof/export-lines.ts';
import type { ExportedEvent, ExportRecord } from '../../../src/audit/proof/export-lines.ts';
import { ExportVerifier } from '../../../src/audit/proof/export-verifier.ts';
import type { ExportProblem, VerifiedExport } from '../../../src/audit/proof/export-verifier.ts';
import { leafOf } from '../../../src/audit/proof/leaf-entry.ts';
import { noteSigner, signNote, verifierKeyOf } from '../../../src/audit/proof/signed-note.ts';
import type { NoteSigner } from '../../../src/audit/proof/signed-note.ts';

export const origin = 'svc.run/0b5f9c5e-0000-4000-8000-000000000000';
export const signer = noteSigner(origin, Buffer.alloc(32, 7));

/** Events of several streams: some are secret, some not UTF-8. */
export function sampleEvents(count: number): readonly ExportedEvent[] {
  return Array.from({ length: count }, (_none, index) => {
    const stream = index % 5 === 3 ? `secret:${String(index)}` : `object:widgets.example.com/ä${String(index % 3)}`;
    const data = index % 7 === 5 ? Buffer.from([0xff, index]) : Buffer.from(`{"n":${String(index)},"t":"\u2028\\n"}`);
    return {
      kind: 'Event' as const,
      index,
      position: BigInt(3 * index + 1),
      stream,
      revision: index,
      id: `6f6c1b1e-9a43-4b7c-8d2f-${String(index).padStart(12, '0')}`,
      type: 'ObjectUpdated',
      metadata: Buffer.from(`{"schema":1,"actor":"jane ${String(index)}"}`),
      data: shownData(stream, data),
    };
  });
}

export function rangeOver(events: readonly ExportedEvent[], from: number, until: number): CompactRange {
  const range = new CompactRange(from);
  for (const event of events.slice(from, until)) range.append(leafOf(event));
  return range;
}

export function checkpointOf(events: readonly ExportedEvent[], size: number, by: NoteSigner = signer): string {
  const { root } = { root: rangeOver(events, 0, size).root() };
  return signNote(checkpointText({ origin: by.name, size, root }), [by]);
}

/** The export of leaves `from` to `until` of a tree of all events, with checkpoints before the leaves `at`. */
export function sampleExport(
  events: readonly ExportedEvent[],
  [from, until]: readonly [number, number] = [0, events.length],
  at: readonly number[] = [],
): readonly ExportRecord[] {
  const between = events.slice(from, until).flatMap((event): ExportRecord[] => {
    const { index } = event;
    return at.includes(index) ? [{ kind: 'Checkpoint', checkpoint: checkpointOf(events, index) }, event] : [event];
  });
  const left = rangeOver(events, 0, from).hashes;
  return [
    { kind: 'Export', format: 1, log: 'a-log', epoch: 0, origin, from, until, left },
    ...between,
    {
      kind: 'End',
      right: rangeOver(events, until, events.length).hashes,
      checkpoint: checkpointOf(events, events.length),
    },
  ];
}

export function bytesOf(records: readonly ExportRecord[]): Buffer {
  return Buffer.concat(records.map(exportLine));
}

/** The platform's verifier, of a whole file. */
export function verified(file: Buffer, signers: readonly NoteSigner[] = [signer]): VerifiedExport | ExportProblem {
  const verifier = new ExportVerifier(signers.map(verifierKeyOf));
  const lines = file.toString('latin1').split('\n');
  if (lines.pop() !== '') return { ok: false, reason: 'changed', detail: 'the last line has no end' };
  for (const line of lines) {
    const problem = verifier.add(Buffer.from(line, 'latin1'));
    if (problem !== undefined) return problem;
  }
  return verifier.finish();
}
