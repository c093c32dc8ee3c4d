import { createHash } from 'node:crypto';

import { test } from 'tap';

import { checkpointText } from '../../../src/audit/proof/checkpoint.ts';
import { exportLine, parseExportLine, shownData } from '../../../src/audit/proof/export-lines.ts';
import type { ExportedEvent, ExportRecord } from '../../../src/audit/proof/export-lines.ts';
import { noteSigner, signNote, verifierKeyOf, verifierKeyText } from '../../../src/audit/proof/signed-note.ts';
import { bytesOf, checkpointOf, origin, rangeOver, sampleEvents, sampleExport } from './sample-export.ts';
import { signer, verified } from './sample-export.ts';
import { secondVerifier } from './second-verifier.ts';

const key = verifierKeyText(verifierKeyOf(signer));
const events = sampleEvents(23);

/** The problem that the verifier finds; the second one must find one too. */
function problemOf(records: readonly ExportRecord[] | Buffer): string {
  const file = Buffer.isBuffer(records) ? records : bytesOf(records);
  const result = verified(file);
  const second = secondVerifier(file, key);
  if (result.ok !== (second === undefined)) return `the verifiers do not agree: ${second ?? 'proven'}`;
  return result.ok ? 'none' : `${result.reason}: ${result.detail}`;
}

/** The line with this text before its sum. */
function sealed(body: Buffer): Buffer {
  return Buffer.concat([body, Buffer.from(`,"sum":"${createHash('sha256').update(body).digest('base64')}"}\n`)]);
}

function replaced(records: readonly ExportRecord[], at: number, more: object): readonly ExportRecord[] {
  return records.map((record, index) => (index === at ? { ...record, ...more } : record));
}

test('every range of a log is proven, by both verifiers', async (t) => {
  for (let from = 0; from <= events.length; from += 1)
    for (let until = from; until <= events.length; until += 1) {
      const records = sampleExport(events, [from, until], [from, until - 1]);
      if (problemOf(records) !== 'none') t.fail(`${String(from)} to ${String(until)}: ${problemOf(records)}`);
    }
  const result = verified(bytesOf(sampleExport(events, [3, 20], [5, 9])));
  t.match(result, { ok: true, agreeing: 3, positions: [10n, 58n], checkpoint: { size: 23 } });
});

test('a change of any byte is found, by both verifiers', async (t) => {
  const file = bytesOf(sampleExport(sampleEvents(7), [1, 6], [4]));
  let [missed, second] = [0, 0];
  for (let at = 0; at < file.length; at += 1)
    for (const by of [0x01, 0x20, 0x80]) {
      const changed = Buffer.from(file);
      changed[at] = (file[at] ?? 0) ^ by;
      if (verified(changed).ok) missed += 1;
      if (secondVerifier(changed, key) === undefined) second += 1;
    }
  t.strictSame([missed, second], [0, 0]);
  t.ok(file.length > 2_000);
});

test('an export that is cut short at any byte is found, by both verifiers', async (t) => {
  const file = bytesOf(sampleExport(sampleEvents(5)));
  for (let length = 0; length < file.length; length += 1) {
    const cut = file.subarray(0, length);
    if (verified(cut).ok || secondVerifier(cut, key) === undefined) t.fail(`cut at ${String(length)}`);
  }
  t.match(problemOf(bytesOf(sampleExport(events).slice(0, 8))), /truncated: it ends before leaf 7, .* leaves 0 to 22/u);
  t.match(problemOf([]), /changed: the file is empty/u);
});

test('a changed event is named, even if its line is whole', async (t) => {
  const records = sampleExport(events, [2, 20], [6, 12]);
  const file = bytesOf(records).toString();
  t.match(problemOf(Buffer.from(file.replace('jane 9', 'jine 9'))), /line 10, at leaf 9, has been changed/u);
  const place = records.findIndex((record) => record.kind === 'Event' && record.index === 9);
  const changed = problemOf(replaced(records, place, { type: 'ObjectDeleted' }));
  t.match(changed, /leaves 6 to 11 has been changed, dropped, added or moved, between the signed checkpoint of 6/u);
  t.match(
    problemOf(replaced(records, place, { position: 1n })),
    /leaf 9 .* has a position that is not after the position of the previous leaf/u,
  );
});

test('dropped, added and moved events are named', async (t) => {
  const records = sampleExport(events);
  t.match(problemOf(records.filter((_record, at) => at !== 6)), /leaf 6 \(.*\) is in the place of leaf 5: .*dropped/u);
  t.match(problemOf(records.toSpliced(6, 0, ...records.slice(3, 4))), /leaf 2 \(.*\) is in the place of leaf 5/u);
  t.match(problemOf([...records.slice(0, -2), ...records.slice(-1)]), /ends before leaf 22/u);
  t.match(problemOf([...records, ...records.slice(-1)]), /line 26 follows the end/u);
  t.match(problemOf([...records.slice(0, 4), ...records.slice(0, 1)]), /line 5 is a second header/u);
  t.match(problemOf(records.slice(1)), /does not begin with a header/u);
  const renumbered = [...events.slice(0, 5), ...events.slice(6)].map((event, index) => ({ ...event, index }));
  const shorter = [...replaced(records.slice(0, 1), 0, { until: 22 }), ...renumbered];
  t.match(problemOf([...shorter, ...records.slice(-1)]), /the last line has been changed/u);
  const ending = {
    kind: 'End' as const,
    right: rangeOver(events, 22, 23).hashes,
    checkpoint: checkpointOf(events, 23),
  };
  t.match(
    problemOf([...shorter, ending]),
    /leaves 0 to 21 has been changed, dropped, added or moved, between the beg/u,
  );
});

test('a TreeHead within the export narrows the place of a change', async (t) => {
  const root = Buffer.from(rangeOver(events, 0, 8).root()).toString('base64');
  const head: ExportedEvent = {
    ...(events[12] as ExportedEvent),
    stream: 'platform:tree',
    type: 'TreeHead',
    data: Buffer.from(JSON.stringify({ tree: 'x', size: 8, root })),
  };
  const withHead = events.map((event) => (event.index === 12 ? head : event));
  const records = sampleExport(withHead);
  t.match(verified(bytesOf(records)), { ok: true, agreeing: 2 });
  const early = verified(bytesOf(replaced(records, 4, { type: 'x' })));
  t.match(early, { ok: false, detail: /leaves 0 to 7 .* and the TreeHead at leaf 12 of 8 leaves/u });
  const late = verified(bytesOf(replaced(records, 20, { type: 'x' })));
  t.match(late, {
    ok: false,
    detail: /leaves 8 to 22 .*, between the TreeHead at leaf 12 of 8 leaves and the signed/u,
  });
});

test('keys of other servers, other trees and wrong signatures are refused, each with its message', async (t) => {
  const records = sampleExport(events);
  const file = bytesOf(records);
  const refused = (result: ReturnType<typeof verified>): string => (result.ok ? 'ok' : result.detail);
  const elsewhere = noteSigner('svc.run/another', Buffer.alloc(32, 7));
  t.match(refused(verified(file, [elsewhere])), /is of the tree svc.run\/0b5.*, and the key is of svc.run\/another/u);
  const another = noteSigner(origin, Buffer.alloc(32, 8));
  t.match(refused(verified(file, [another])), /signed by the key .*the key is of another server/u);
  t.match(verified(file, [another, signer]), { ok: true });
  const foreign = replaced(records, 24, { checkpoint: checkpointOf(events, 23, elsewhere) });
  t.match(problemOf(foreign), /the checkpoint is of the tree svc.run\/another, and/u);
  const forged = checkpointOf(events, 23).replace('\n23\n', '\n24\n');
  t.match(
    problemOf(replaced(records, 24, { checkpoint: forged })),
    /signature of the checkpoint of 24 leaves is wrong/u,
  );
  t.match(problemOf(replaced(records, 24, { checkpoint: 'none' })), /the checkpoint in line 25 is not valid/u);
  const smaller = signNote(checkpointText({ origin, size: 9, root: Buffer.alloc(32) }), [signer]);
  t.match(problemOf(replaced(records, 24, { checkpoint: smaller })), /do not lead to its checkpoint/u);
  t.match(problemOf(replaced(records, 0, { left: [Buffer.alloc(32)] })), /the header has been changed/u);
});

test('deep nesting is refused in every line', async (t) => {
  const depth = 200_000;
  const nested = '['.repeat(depth) + ']'.repeat(depth);
  const records = sampleExport(events, [2, 20], [6]);
  for (const at of [0, 1, 5, records.length - 1]) {
    const lines = records.map(exportLine);
    const [line = '', last = ''] = /^.*(,"(?:left|data|checkpoint)":)/u.exec(String(lines[at])) ?? [];
    t.not(last, '');
    lines[at] = sealed(Buffer.from(`${line}${nested}`));
    const found =
      at === 0 ? /this is not an export/u : /line (\d+), at leaf \d+, has been changed: no server writes it/u;
    const problem = problemOf(Buffer.concat(lines));
    t.match(problem, found);
    t.equal(found.exec(problem)?.[1], at === 0 ? undefined : String(at + 1));
  }
});

test('the data of a secret is never in a line, and nothing else is hidden', async (t) => {
  t.match(shownData('secret:1', Buffer.from('hunter2')), { sha256: /^[0-9a-f]{64}$/u });
  const [event] = events;
  const hidden = exportLine({ ...(event as ExportedEvent), data: { sha256: 'a'.repeat(64) } });
  t.strictSame(parseExportLine(hidden.subarray(0, -1)), { ok: false, problem: 'form' });
});

test('a line in another form is refused, with a sum of its own too', async (t) => {
  const line = exportLine(events[0] as ExportedEvent)
    .subarray(0, -1)
    .toString();
  t.ok(parseExportLine(Buffer.from(line)).ok);
  const resealed = (change: (body: string) => string): unknown => {
    return parseExportLine(sealed(Buffer.from(change(line.slice(0, -54)), 'latin1')).subarray(0, -1));
  };
  const form = { ok: false, problem: 'form' };
  t.match(
    resealed((body) => Buffer.from(body).toString('latin1')),
    { ok: true },
  );
  t.strictSame(
    resealed((body) => `${body},"more":1`),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('"index":0', '"index": 0')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('"index":0', '"index":0,"index":0')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('"index":0', '"index":-0')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('jane', '\\u006aane')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('jane', '\\ud800')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('jane', '\xff')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace('"position":"1"', '"position":"01"')),
    form,
  );
  t.strictSame(
    resealed((body) => body.replace(/"data":.*/u, '"data":{"base64":"YQ=="}')),
    form,
  );
  t.strictSame(
    resealed(() => '{"kind":"Event"'),
    form,
  );
  t.strictSame(
    resealed(() => '['),
    form,
  );
});
