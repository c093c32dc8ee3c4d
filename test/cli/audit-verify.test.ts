/** `ledgerplane audit verify`, on files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { test, type Test } from 'tap';

import { noteSigner, verifierKeyOf, verifierKeyText } from '../../src/audit/proof/signed-note.ts';
import { exportLineBytesMax, exportUnpackedFreeBytes } from '../../src/limits/audit.ts';
import { bytesOf, origin, sampleEvents, sampleExport, signer } from '../audit/proof/sample-export.ts';
import { runCommand } from '../support/server/command-run.ts';

const key = verifierKeyText(verifierKeyOf(signer));
const another = verifierKeyText(verifierKeyOf(noteSigner(origin, Buffer.alloc(32, 9))));
const file = bytesOf(sampleExport(sampleEvents(20), [0, 20], [10]));

type Verdict = { readonly code: number; readonly text: string };

function verifierIn(t: Test): (content: Uint8Array, ...more: readonly string[]) => Promise<Verdict> {
  const folder = t.testdir();
  return async (content, ...more) => {
    writeFileSync(join(folder, 'log.jsonl'), content);
    const args = more.length === 0 ? ['--key', key] : more;
    const { code, out, err } = await runCommand(['audit', 'verify', 'log.jsonl', ...args], { folder });
    return { code, text: out + err };
  };
}

test('an export is verified, plain and gzipped', async (t) => {
  const verify = verifierIn(t);
  for (const content of [
    file,
    gzipSync(file),
    Buffer.concat([gzipSync(file.subarray(0, 99)), gzipSync(file.subarray(99))]),
  ]) {
    const { code, text } = await verify(content);
    t.equal(code, 0, text);
    t.match(text, /^verified: 20 events, leaves 0 to 19, positions 1 to 58 \(according to the file\)\nlog /u);
    t.match(text, /^log a-log, epoch 0 \(according to the file\), tree /mu);
    t.match(text, /^the signed checkpoint of 20 leaves has the root [A-Za-z0-9+/]{43}=\n2 checkpoints/mu);
  }
});

test('exports that are changed, damaged or cut short exit with 1, keys of another server with 2', async (t) => {
  const verify = verifierIn(t);
  const changed = file.toString().replace('jane 4', 'jine 4');
  t.match(await verify(Buffer.from(changed)), { code: 1, text: /log\.jsonl is not verified: line 6, at leaf 4, / });
  t.match(await verify(gzipSync(changed)), { code: 1, text: /line 6, at leaf 4, / });
  t.match(await verify(file.subarray(0, -9)), { code: 1, text: /ends within a line, after leaf 19, the last leaf$/mu });
  const lines = file.toString().split('\n');
  t.match(await verify(Buffer.from(`${lines.slice(0, 8).join('\n')}\n`)), { code: 1, text: /ends before leaf 7, / });
  t.match(await verify(Buffer.from(`${lines.slice(0, -2).join('\n')}\n`)), {
    code: 1,
    text: /its last line is missing/u,
  });
  t.match(await verify(file.subarray(0, -1)), { code: 1, text: /ends within a line, after leaf 19, the last leaf$/mu });
  t.match(await verify(file.subarray(0, 3_000)), { code: 1, text: /truncated: it ends within a line, at leaf \d+$/mu });
  t.match(await verify(gzipSync(file).subarray(0, -20)), { code: 1, text: /the gzipped file is truncated/u });
  // Byte 2 is the method of compression.
  for (const at of [2, 200]) {
    const damaged = gzipSync(file);
    damaged[at] = (damaged[at] ?? 0) ^ 0xff;
    t.match(await verify(damaged), { code: 1, text: /the gzipped file is damaged|has been changed/u });
  }
  const members = [gzipSync(file.subarray(0, -2_000)), gzipSync(file.subarray(-2_000))].map((part) =>
    Buffer.from(part),
  );
  const [, second] = members;
  if (second !== undefined) second[10] = 0xff;
  t.match(await verify(Buffer.concat(members)), {
    code: 1,
    text: /the gzipped file is damaged \(Z_\w+\), at leaf 1\d$/mu,
  });
  t.match(await verify(Buffer.from('')), { code: 1, text: /is not verified: the file is empty/u });
  const header = file.toString().replace('a-log', 'b-log');
  t.match(await verify(Buffer.from(header)), { code: 1, text: /its header has been changed/u });
  const longer = Buffer.concat([file, Buffer.from('\n')]);
  t.match(await verify(longer), { code: 1, text: /line 24, which is empty, follows the end of the export/u });
  t.match(await verify(Buffer.from('hello\n')), {
    code: 1,
    text: /this is not an export, or its header has been changed/u,
  });
  t.match(await verify(file, '--key', another), { code: 2, text: /the key is of another server/u });
});

test('keys are text, or a file with one on each line', async (t) => {
  const folder = t.testdir({ keys: `# node a\n${another}\n\n${key}\n`, bad: `${key}\nnone\n`, 'log.jsonl': file });
  const run = async (...args: readonly string[]): Promise<Verdict> => {
    const { code, out, err } = await runCommand(['audit', 'verify', ...args], { folder });
    return { code, text: out + err };
  };
  t.match(await run('log.jsonl', '--key', 'keys'), { code: 0 });
  t.match(await run('log.jsonl', '--key', another, '--key', key), { code: 0 });
  t.match(await run('log.jsonl', '--key', 'bad'), { code: 2, text: /line 2 of bad is not a verifier key/u });
  const gone = await run('log.jsonl', '--key', 'gone');
  t.match(gone, { code: 2, text: /gone is neither a verifier key nor a readable file/u });
  t.match(await run('log.jsonl'), { code: 2, text: /--key is required/u });
  t.match(await run('gone.jsonl', '--key', key), { code: 2, text: /gone\.jsonl cannot be read \(ENOENT\)/u });
  t.match(await run('.', '--key', key), { code: 2, text: /: \. cannot be read \(EISDIR\)/u });
});

test('a file that unpacks to far more than its size ends the command', async (t) => {
  const verify = verifierIn(t);
  const zeros = gzipSync(Buffer.alloc(exportLineBytesMax + 2_097_152));
  t.match(await verify(zeros), { code: 1, text: /the file is not an export: a line is longer than 16777216 bytes/u });
  // Whole lines, all with their sums: only the ratio shows that nobody exported them.
  const data = Buffer.alloc(8_000_000, 'a');
  const events = sampleEvents(12).map((event) => ({ ...event, stream: 'object:a/b', data }));
  const bomb = gzipSync(bytesOf(sampleExport(events)));
  t.ok(bomb.length * 250 < exportUnpackedFreeBytes);
  t.match(await verify(bomb), { code: 1, text: /unpacks to more than 250 times its size/u });
});
