import fc from 'fast-check';
import { test } from 'tap';

import { checkpointText, originOf, parseCheckpoint } from '../../../src/audit/proof/checkpoint.ts';
import {
  noteSigner,
  parseNote,
  parseVerifierKey,
  signNote,
  verifierKeyOf,
  verifierKeyText,
  verifyNote,
} from '../../../src/audit/proof/signed-note.ts';
import type { NoteSigner, NoteVerdict, VerifierKey } from '../../../src/audit/proof/signed-note.ts';

/** The example of golang.org/x/mod/sumdb/note. */
const published = {
  key: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  seed: 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature: 'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=',
};

const origin = originOf('svc.run', '0b5f9c5e');
const signer = noteSigner(origin, Buffer.alloc(32, 7));
const another = noteSigner(origin, Buffer.alloc(32, 8));

function verdict(note: string, ...signers: readonly NoteSigner[]): NoteVerdict | 'malformed' {
  const parsed = parseNote(note);
  return parsed === undefined ? 'malformed' : verifyNote(parsed, signers.map(verifierKeyOf));
}

test('the published key makes and verifies the published note', async (t) => {
  const seed = Buffer.from(published.seed, 'base64').subarray(1);
  const peter = noteSigner('PeterNeumann', seed);
  t.equal(verifierKeyText(verifierKeyOf(peter)), published.key);
  const note = `${published.text}\n— PeterNeumann ${published.signature}\n`;
  t.equal(signNote(published.text, [peter]), note);
  const key = parseVerifierKey(published.key) as VerifierKey;
  const parsed = parseNote(note);
  t.ok(parsed !== undefined && verifyNote(parsed, [key]) === 'signed');
});

test('a key of another name, id, algorithm or length is none', async (t) => {
  for (const text of [
    '',
    published.key.slice(1),
    published.key.replace('c74f20a3', 'c74f20a4'),
    published.key.replace('ARpc', 'BBpc'),
    published.key.slice(0, -4),
    `${published.key}\n`,
    published.key.replace('PeterNeumann', 'Peter Neumann'),
  ])
    t.equal(parseVerifierKey(text), undefined, text);
});

test('several keys sign one note, and keys that nobody asked for do not count', async (t) => {
  const note = signNote('one\n\ntwo\n', [signer, another]);
  t.equal(verdict(note, signer), 'signed');
  t.equal(verdict(note, another), 'signed');
  t.equal(verdict(note, signer, another), 'signed');
  t.equal(verdict(note, noteSigner('elsewhere', Buffer.alloc(32, 7))), 'unsigned');
  t.equal(verdict(note, noteSigner(origin, Buffer.alloc(32, 9))), 'unsigned');
  t.equal(verdict(note), 'unsigned');
  t.equal(verdict(note.replace('two', 'six'), signer), 'forged');
});

test('no changed character of a note passes', async (t) => {
  const note = signNote(checkpointText({ origin, size: 12_345, root: Buffer.alloc(32, 3) }), [signer]);
  t.equal(verdict(note, signer), 'signed');
  fc.assert(
    fc.property(fc.nat(note.length - 1), fc.integer({ min: 1, max: 127 }), (at, by) => {
      const code = note.charCodeAt(at) ^ by;
      const changed = note.slice(0, at) + String.fromCharCode(code) + note.slice(at + 1);
      return verdict(changed, signer) !== 'signed';
    }),
    { numRuns: 2_000 },
  );
});

test('text that is no note is none, and none is signed', async (t) => {
  const note = signNote('one\n', [signer]);
  for (const text of ['', '\n\n', 'one\n', 'one\n\n', note.slice(0, -1), `${note}\n`, note.replace('— ', '- ')])
    t.equal(verdict(text, signer), 'malformed', JSON.stringify(text));
  t.equal(verdict(`${'x'.repeat(70_000)}\n${note}`, signer), 'malformed', 'too long');
  t.equal(verdict(note + note.slice(note.indexOf('—')).repeat(100), signer), 'malformed', 'too many signatures');
  t.throws(() => signNote('one', [signer]));
  t.throws(() => signNote('one\u0007\n', [signer]));
  t.throws(() => noteSigner('with space', Buffer.alloc(32)));
});

test('a checkpoint is read as it was written', async (t) => {
  fc.assert(
    fc.property(fc.nat(Number.MAX_SAFE_INTEGER), fc.uint8Array({ minLength: 32, maxLength: 32 }), (size, root) => {
      const read = parseCheckpoint(checkpointText({ origin, size, root }));
      return read?.origin === origin && read.size === size && Buffer.compare(read.root, root) === 0;
    }),
  );
  const text = checkpointText({ origin, size: 10, root: Buffer.alloc(32) });
  t.equal(text, `svc.run/0b5f9c5e\n10\n${'A'.repeat(43)}=\n`);
  for (const changed of [
    text.replace('10', '010'),
    text.replace('10', '-10'),
    text.replace('10', '9007199254740992'),
    text.replace('A=', 'B='),
    text.replace('A=', '='),
    `${text}extension\n`,
    text.slice(0, -1),
    `\n${text}`,
    text.replace('/', ' '),
  ])
    t.equal(parseCheckpoint(changed), undefined, JSON.stringify(changed));
});
