/** Verification of an export in several threads: its results are those of one thread. */
import { test } from 'tap';

import type { ExportedEvent, ExportRecord } from '../../src/audit/proof/export-lines.ts';
import { ExportVerifier, type ExportProblem, type VerifiedExport } from '../../src/audit/proof/export-verifier.ts';
import { verifierKeyOf } from '../../src/audit/proof/signed-note.ts';
import { LeafThreads } from '../../src/cli/audit/verify/leaf-threads.ts';
import { addLines } from '../../src/cli/audit/verify/verified-lines.ts';
import { bytesOf, rangeOver, sampleEvents, sampleExport, signer, verified } from '../audit/proof/sample-export.ts';

async function* blocksOf(file: Buffer, lines: number, end?: Error): AsyncGenerator<readonly Uint8Array[]> {
  const all = file.toString('latin1').split('\n').slice(0, -1);
  await Promise.resolve();
  for (let from = 0; from < all.length; from += lines)
    yield all.slice(from, from + lines).map((line) => Buffer.from(line, 'latin1'));
  if (end !== undefined) throw end;
}

async function verifiedIn(threads: LeafThreads, file: Buffer, end?: Error): Promise<VerifiedExport | ExportProblem> {
  const verifier = new ExportVerifier([verifierKeyOf(signer)]);
  return (await addLines(verifier, blocksOf(file, 2, end), threads)) ?? verifier.finish();
}

function shown(result: VerifiedExport | ExportProblem): unknown {
  return result.ok ? [result.agreeing, result.positions, result.checkpoint] : result.detail;
}

const events = sampleEvents(12);
const root = Buffer.from(rangeOver(events, 0, 4).root()).toString('base64');
const head: ExportedEvent = {
  ...(events[6] as ExportedEvent),
  stream: 'platform:tree',
  type: 'TreeHead',
  data: Buffer.from(JSON.stringify({ tree: 'x', size: 4, root })),
};
const records = sampleExport(
  events.map((event) => (event.index === 6 ? head : event)),
  [0, 12],
  [3, 8],
);

for (const count of [0, 1, 2])
  test(`${String(count)} threads find every change of a byte as one thread does`, async (t) => {
    const threads = new LeafThreads(count);
    t.teardown(async () => threads.close());
    const whole = bytesOf(records);
    t.strictSame(shown(await verifiedIn(threads, whole)), shown(verified(whole)));
    t.match(await verifiedIn(threads, whole), { ok: true, agreeing: 4 });
    let changes = 0;
    for (let at = 0; at < whole.length; at += count === 1 ? 1 : 13) {
      const changed = Buffer.from(whole);
      changed[at] = (whole[at] ?? 0) ^ 0x01;
      // The reader of the file reports a line without an end.
      if (changed.at(-1) !== 0x0a) continue;
      const [found, expected] = [await verifiedIn(threads, changed), verified(changed)];
      if (found.ok || shown(found) !== shown(expected)) t.fail(`${String(at)}: ${String(shown(found))}`);
      changes += 1;
    }
    t.ok(changes > 300);
  });

test('threads find dropped, added, moved and changed lines as one thread does', async (t) => {
  const threads = new LeafThreads(2);
  t.teardown(async () => threads.close());
  const variants: readonly (readonly ExportRecord[])[] = [
    [],
    ...records.flatMap((record, at) => [
      records.toSpliced(at, 1),
      records.toSpliced(at, 0, record),
      records.toSpliced(at, 2, ...records.slice(at, at + 2).toReversed()),
      records.slice(0, at),
      records.toSpliced(at, 1, { ...record, type: 'x' } as ExportRecord),
      records.toSpliced(at, 1, { ...record, position: 1n } as ExportRecord),
      records.toSpliced(at, 1, { ...record, position: 2n ** 64n } as ExportRecord),
    ]),
  ];
  for (const variant of variants) {
    const file = bytesOf(variant);
    t.strictSame(shown(await verifiedIn(threads, file)), shown(verified(file)));
  }
});

test('a problem before the place where the file breaks is the first problem', async (t) => {
  const threads = new LeafThreads(2);
  t.teardown(async () => threads.close());
  const broken = new Error('the file is truncated');
  await t.rejects(verifiedIn(threads, bytesOf(records.slice(0, 9)), broken), broken);
  const dropped = bytesOf(records.slice(0, 9).toSpliced(5, 1));
  t.match(await verifiedIn(threads, dropped, broken), { ok: false, detail: /events have been dropped/u });
});

test('a thread that fails ends the verification with its error, whatever lines follow', async (t) => {
  const threads = new LeafThreads(1);
  t.teardown(async () => threads.close());
  const failed = Promise.reject(new Error('out of memory'));
  failed.catch(() => undefined);
  let blocks = 0;
  const failing = {
    count: 1,
    leavesOf: (lines: readonly Uint8Array[]) => {
      blocks += 1;
      return blocks === 2 ? failed : threads.leavesOf(lines);
    },
  };
  const verifier = new ExportVerifier([verifierKeyOf(signer)]);
  await t.rejects(addLines(verifier, blocksOf(bytesOf(records), 2), failing), { message: 'out of memory' });
  t.ok(blocks > 2, 'blocks after the failed one were sent');
});

test('a thread that has ended accepts no block', async (t) => {
  const threads = new LeafThreads(1);
  await threads.leavesOf([Buffer.from('a line')]);
  await threads.close();
  await t.rejects(async () => {
    await threads.leavesOf([Buffer.from('another line')]);
  }, /has ended/u);
});
