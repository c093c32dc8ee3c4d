import fc from 'fast-check';
import { test } from 'tap';

import { CompactRange } from '../../../src/audit/proof/compact-range.ts';
import { emptyRoot, leafHash, rangeHash, readerOfLevels } from '../../../src/audit/proof/merkle.ts';
import type { Hash, Node, NodeReader } from '../../../src/audit/proof/merkle.ts';
import { consistencyProof, inclusionProof, isConsistent, isIncluded } from '../../../src/audit/proof/proofs.ts';
import { naiveConsistency, naivePath, naiveRoot } from './naive-tree.ts';

/** Of the tests of Certificate Transparency: the first eight leaves, and the roots of the trees of each size. */
const published = {
  entries: ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
    (hex) => Buffer.from(hex, 'hex'),
  ),
  roots: [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ],
};

type Tree = {
  readonly entries: readonly Uint8Array[];
  readonly read: NodeReader;
  /** Reads nodes from stored levels: those of tiles, and every fourth. */
  readonly stored: readonly NodeReader[];
};

function treeOf(entries: readonly Uint8Array[]): Tree {
  const nodes = new Map<string, Hash>();
  const keyOf = ({ level, index }: Node): string => `${String(level)}/${String(index)}`;
  const range = new CompactRange();
  for (const entry of entries) range.append(leafHash(entry), (node, hash) => nodes.set(keyOf(node), hash));
  const read: NodeReader = (node) => {
    const found = nodes.get(keyOf(node));
    if (found === undefined) throw new Error(`no node ${keyOf(node)}`);
    return found;
  };
  const stored = [8, 4].map((step) =>
    readerOfLevels(step, (level, first, count) =>
      Buffer.concat(Array.from({ length: count }, (_none, at) => read({ level, index: first + at }))),
    ),
  );
  return { entries, read, stored };
}

const entriesOf = (count: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_none, at) => Buffer.from(`entry ${String(at)}`));

const tree = treeOf(entriesOf(700));
const readers = fc.constantFrom(...tree.stored);

/** Three numbers in order, of leaves of the tree. */
const ordered = fc
  .tuple(fc.nat(700), fc.nat(700), fc.nat(700))
  .map((drawn) => drawn.toSorted((left, right) => left - right) as [number, number, number]);

function rangeOf(from: number, until: number): CompactRange {
  const range = new CompactRange(from);
  for (const entry of tree.entries.slice(from, until)) range.append(leafHash(entry));
  return range;
}

test('the published trees have the published roots', async (t) => {
  t.equal(Buffer.from(emptyRoot).toString('hex'), published.roots[0]);
  const range = new CompactRange();
  for (const [at, entry] of published.entries.entries()) {
    range.append(leafHash(entry));
    t.equal(Buffer.from(range.root()).toString('hex'), published.roots[at + 1]);
    t.equal(naiveRoot(published.entries.slice(0, at + 1)).toString('hex'), published.roots[at + 1]);
  }
});

test('the root of every size is the one of the definition', async (t) => {
  const range = new CompactRange();
  for (let size = 0; size <= 300; size += 1) {
    const expected = naiveRoot(tree.entries.slice(0, size));
    t.ok(expected.equals(range.root()), `size ${String(size)}`);
    for (const read of tree.stored) t.ok(expected.equals(rangeHash(0, size, read)), `size ${String(size)}, stored`);
    range.append(leafHash(tree.entries[size] ?? Buffer.alloc(0)));
  }
});

test('ranges side by side join to the root, with hashes from elsewhere too', async (t) => {
  fc.assert(
    fc.property(ordered, ([from, until, size]) => {
      const left = CompactRange.of(0, from, rangeOf(0, from).hashes);
      left.appendRange(rangeOf(from, until));
      const right = CompactRange.of(until, size, rangeOf(until, size).hashes);
      left.appendRange(right);
      return left.until === size && naiveRoot(tree.entries.slice(0, size)).equals(left.root());
    }),
  );
  t.throws(() => CompactRange.of(0, 3, rangeOf(0, 4).hashes), /must have 2 hashes, got 1/u);
  t.throws(() => {
    rangeOf(0, 3).appendRange(rangeOf(4, 5));
  }, /begins at 4, not at 3/u);
  t.throws(() => rangeOf(1, 3).root(), /only a range that begins at 0 has a root/u);
});

test('inclusion proofs are those of the definition, and prove one leaf at one index only', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.nat(), readers, (size, drawn, other, read) => {
      const [index, wrong] = [drawn % size, other % size];
      const entries = tree.entries.slice(0, size);
      const proof = inclusionProof(index, size, read);
      const leaf = leafHash(entries[index] ?? Buffer.alloc(0));
      const claim = { leaf, index, size, proof, root: naiveRoot(entries) };
      t.strictSame(proof, naivePath(index, entries));
      t.ok(isIncluded(claim));
      t.equal(isIncluded({ ...claim, index: wrong }), wrong === index);
      t.notOk(isIncluded({ ...claim, leaf: leafHash(Buffer.from('another')) }));
      t.notOk(isIncluded({ ...claim, index: size }));
      t.notOk(isIncluded({ ...claim, proof: [...proof, leaf] }));
      if (proof.length > 0) t.notOk(isIncluded({ ...claim, proof: proof.slice(1) }));
    }),
  );
  t.throws(() => inclusionProof(7, 7, tree.read), /has no leaf 7/u);
});

test('consistency proofs are those of the definition, and prove two roots only', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), readers, (size, drawn, read) => {
      const oldSize = 1 + (drawn % size);
      const entries = tree.entries.slice(0, size);
      const proof = consistencyProof(oldSize, size, read);
      const claim = {
        oldSize,
        oldRoot: naiveRoot(entries.slice(0, oldSize)),
        size,
        root: naiveRoot(entries),
        proof,
      };
      t.strictSame(proof, naiveConsistency(oldSize, entries));
      t.ok(isConsistent(claim));
      t.notOk(isConsistent({ ...claim, oldRoot: leafHash(Buffer.from('another')) }));
      t.notOk(isConsistent({ ...claim, root: leafHash(Buffer.from('another')) }));
      t.notOk(isConsistent({ ...claim, proof: [...proof, claim.root] }));
      if (proof.length > 0) t.notOk(isConsistent({ ...claim, proof: proof.slice(0, -1) }));
    }),
  );
});

test('the empty tree begins every tree, and no tree has a larger beginning', async (t) => {
  const [root, five] = [rangeOf(0, 9).root(), rangeOf(0, 5).root()];
  t.ok(isConsistent({ oldSize: 0, oldRoot: emptyRoot, size: 9, root, proof: consistencyProof(0, 9, tree.read) }));
  t.notOk(isConsistent({ oldSize: 0, oldRoot: five, size: 9, root, proof: [] }));
  t.notOk(isConsistent({ oldSize: 0, oldRoot: emptyRoot, size: 0, root, proof: [] }));
  t.notOk(isConsistent({ oldSize: 9, oldRoot: root, size: 5, root: five, proof: [] }));
  t.notOk(isConsistent({ oldSize: 9, oldRoot: five, size: 9, root, proof: [] }));
  t.throws(() => consistencyProof(9, 5, tree.read), /does not begin with a tree of 9 leaves/u);
});

test('proofs in trees of more than 2^32 leaves are verified without an overflow', async (t) => {
  // All leaves are equal, so each full node is known by its level.
  const full: Hash[] = [leafHash(Buffer.from('same'))];
  const read: NodeReader = ({ level }) => {
    for (let at = full.length; at <= level; at += 1) {
      const below = new CompactRange();
      const child = full[at - 1] ?? emptyRoot;
      below.append(child);
      below.append(child);
      full.push(below.root());
    }
    return full[level] ?? emptyRoot;
  };
  const [oldSize, size] = [2 ** 33 + 5, 2 ** 40 + 12_345];
  const [oldRoot, root] = [rangeHash(0, oldSize, read), rangeHash(0, size, read)];
  const index = 2 ** 39 + 7;
  const [leaf] = full;
  t.ok(isIncluded({ leaf: leaf ?? emptyRoot, index, size, proof: inclusionProof(index, size, read), root }));
  t.ok(isConsistent({ oldSize, oldRoot, size, root, proof: consistencyProof(oldSize, size, read) }));
});
