/** The verification in the browser, against trees, notes and keys that the code of the server makes. */
import { test } from 'tap';

import { checkpointText } from '../../../src/audit/proof/checkpoint.ts';
import { leafHash, type Hash, type NodeReader, nodeHash } from '../../../src/audit/proof/merkle.ts';
import { consistencyProof, inclusionProof } from '../../../src/audit/proof/proofs.ts';
import { noteSigner, signNote, verifierKeyOf, verifierKeyText } from '../../../src/audit/proof/signed-note.ts';
import { naiveRoot } from '../../audit/proof/naive-tree.ts';
import { importConsoleModule } from '../support/console-module.ts';

type Merkle = {
  readonly leafHash: (entry: Uint8Array) => Promise<Uint8Array>;
  readonly isIncluded: (inclusion: object) => Promise<boolean>;
  readonly isConsistent: (consistency: object) => Promise<boolean>;
};
type Key = { readonly name: string };
type Notes = {
  readonly parseNote: (text: string) => object | undefined;
  readonly parseCheckpoint: (text: string) => { readonly size: number } | undefined;
  readonly parseVerifierKey: (text: string) => Promise<Key | undefined>;
  readonly verifyNote: (note: object, keys: readonly Key[]) => Promise<string>;
  readonly trustedKeys: (listed: readonly object[], remembered: readonly string[]) => Promise<readonly string[]>;
};

const merkle = importConsoleModule<Merkle>('pages/audit/proof/merkle.ts');
const notes = importConsoleModule<Notes>('pages/audit/proof/signed-note.ts');

const sizes = [1, 2, 3, 4, 5, 7, 8, 13, 16, 21];
const entries = Array.from({ length: 21 }, (_, index) => Buffer.from(`entry ${String(index)}`));
const leaves: readonly Hash[] = entries.map(leafHash);

/** Reads the nodes of the tree over `leaves`, as the server reads the stored ones. */
const read: NodeReader = ({ level, index }) =>
  level === 0
    ? leaves[index]!
    : nodeHash(read({ level: level - 1, index: 2 * index }), read({ level: level - 1, index: 2 * index + 1 }));

const rootOf = (size: number): Hash => naiveRoot(entries.slice(0, size));

function changed(hash: Hash): Uint8Array {
  const copy = Uint8Array.from(hash);
  copy[7] = (copy[7] ?? 0) ^ 1;
  return copy;
}

test('the browser accepts each inclusion proof of the server, and no changed one', async (t) => {
  const { isIncluded, leafHash: browserLeaf } = await merkle;
  for (const size of sizes)
    for (let index = 0; index < size; index += 1) {
      const hashes = inclusionProof(index, size, read).map((hash) => Uint8Array.from(hash));
      const proof = {
        leaf: await browserLeaf(Uint8Array.from(entries[index]!)),
        index,
        size,
        hashes,
        root: rootOf(size),
      };
      const name = `leaf ${String(index)} of ${String(size)}`;
      t.ok(await isIncluded(proof), name);
      t.notOk(await isIncluded({ ...proof, leaf: changed(proof.leaf) }), `${name}: another leaf`);
      t.notOk(await isIncluded({ ...proof, root: changed(proof.root) }), `${name}: another root`);
      t.notOk(await isIncluded({ ...proof, index: size }), `${name}: beyond the tree`);
      t.notOk(await isIncluded({ ...proof, hashes: [...hashes, proof.leaf] }), `${name}: too long`);
      if (size > 1) t.notOk(await isIncluded({ ...proof, hashes: hashes.slice(1) }), `${name}: too short`);
      if (size > 1) t.notOk(await isIncluded({ ...proof, index: (index + 1) % size }), `${name}: another place`);
    }
});

test('the browser accepts each consistency proof of the server, and no changed one', async (t) => {
  const { isConsistent } = await merkle;
  for (const size of sizes)
    for (let oldSize = 1; oldSize <= size; oldSize += 1) {
      const hashes = consistencyProof(oldSize, size, read).map((hash) => Uint8Array.from(hash));
      const proof = { oldSize, oldRoot: rootOf(oldSize), size, root: rootOf(size), hashes };
      const name = `${String(oldSize)} to ${String(size)}`;
      t.ok(await isConsistent(proof), name);
      t.notOk(await isConsistent({ ...proof, oldRoot: changed(proof.oldRoot) }), `${name}: another old root`);
      t.notOk(await isConsistent({ ...proof, root: changed(proof.root) }), `${name}: another root`);
      t.notOk(await isConsistent({ ...proof, hashes: [...hashes, proof.root] }), `${name}: too long`);
      if (hashes.length > 0)
        t.notOk(await isConsistent({ ...proof, hashes: hashes.map(changed) }), `${name}: changed hashes`);
    }
  t.notOk(await isConsistent({ oldSize: 3, oldRoot: rootOf(3), size: 2, root: rootOf(2), hashes: [] }), 'backwards');
  t.notOk(await isConsistent({ oldSize: 0, oldRoot: rootOf(1), size: 1, root: rootOf(1), hashes: [] }), 'no old tree');
});

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const origin = 'example.com/0f5e';
const signer = noteSigner(origin, seed(1));

test('the browser verifies the signature of a checkpoint', async (t) => {
  const { parseNote, parseCheckpoint, parseVerifierKey, verifyNote } = await notes;
  const text = checkpointText({ origin, size: 21, root: rootOf(21) });
  t.equal(parseCheckpoint(text)?.size, 21);
  const keyText = verifierKeyText(verifierKeyOf(signer));
  const key = (await parseVerifierKey(keyText))!;
  const other = (await parseVerifierKey(verifierKeyText(verifierKeyOf(noteSigner(origin, seed(2))))))!;
  const signed = signNote(text, [signer]);
  t.equal(await verifyNote(parseNote(signed)!, [other, key]), 'signed');
  t.equal(await verifyNote(parseNote(signed)!, [other]), 'unsigned');
  t.equal(await verifyNote(parseNote(signed.replace('\n21\n', '\n20\n'))!, [key]), 'forged');
  t.equal(await parseVerifierKey(keyText.replace(/\+[0-9a-f]{8}\+/u, '+00000000+')), undefined, 'a wrong key id');
  for (const malformed of ['', text, signed.trimEnd(), signed.replace('— ', '- '), `${signed}\n`, 'x'.repeat(70_000)])
    t.equal(parseNote(malformed), undefined);
  for (const malformed of ['', `${text}more\n`, text.replace('21', '021'), text.replace('21', '1e3')])
    t.equal(parseCheckpoint(malformed), undefined);
});

test('a browser trusts the keys that it remembers, and those that they sign', async (t) => {
  const { trustedKeys } = await notes;
  const rawKey = (byte: number): string =>
    verifierKeyText(verifierKeyOf(noteSigner('k', seed(byte))))
      .split('+')
      .slice(2)
      .join('+');
  const keyOf = (byte: number): string => Buffer.from(rawKey(byte), 'base64').subarray(1).toString('base64');
  const listed = (byte: number, by: number): object => ({
    key: keyOf(byte),
    signedBy: keyOf(by),
    note: signNote(`example.com/keys\ned25519:${keyOf(byte)}\n`, [noteSigner('example.com/keys', seed(by))]),
  });
  const [first, second, stranger] = [listed(1, 1), listed(2, 1), listed(3, 3)];
  const forged = { ...listed(4, 3), signedBy: keyOf(1) };
  t.strictSame(await trustedKeys([first, second], []), [keyOf(1), keyOf(2)], 'the first visit');
  t.strictSame(await trustedKeys([first, second, stranger, forged], [keyOf(1)]), [keyOf(1), keyOf(2)]);
  t.strictSame(await trustedKeys([stranger], [keyOf(1)]), []);
});
