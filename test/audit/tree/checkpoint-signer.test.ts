/** A signature leaves only for a tree that extends the recorded one, and after it is recorded. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { NodeSigner } from '../../../src/audit/keys/node-signer.ts';
import { parseCheckpoint } from '../../../src/audit/proof/checkpoint.ts';
import { CompactRange } from '../../../src/audit/proof/compact-range.ts';
import { leafHash, type Hash } from '../../../src/audit/proof/merkle.ts';
import { parseNote, parseVerifierKey, verifyNote } from '../../../src/audit/proof/signed-note.ts';
import { CheckpointSigner } from '../../../src/audit/tree/checkpoint-signer.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { TreeSize } from '../../../src/command/event.ts';
import { SignedTrees } from '../../../src/disk/signed-trees.ts';

/** A tree of texts. */
class Texts {
  leaves: readonly string[] = [];

  size(): number {
    return this.leaves.length;
  }

  root(size: number): Hash {
    const range = new CompactRange();
    for (const text of this.leaves.slice(0, size)) range.append(leafHash(Buffer.from(text)));
    return range.root();
  }
}

type Signed = ConstructorParameters<typeof CheckpointSigner>[0]['signed'];

type Stage = {
  readonly tree: Texts;
  readonly signer: CheckpointSigner;
  readonly refusals: string[];
  hindrance: string | undefined;
  id: string;
};

const own = new NodeSigner(Buffer.alloc(32, 7));

type Leaves = ConstructorParameters<typeof CheckpointSigner>[0]['leaves'];

function stage(signed: Signed, { tree = new Texts(), leaves }: { tree?: Texts; leaves?: Leaves } = {}): Stage {
  const refusals: string[] = [];
  const made: Omit<Stage, 'signer'> & { signer?: CheckpointSigner } = {
    tree,
    refusals,
    hindrance: undefined,
    id: 'tree',
  };
  made.signer = new CheckpointSigner({
    domain: 'svc.run',
    treeId: () => made.id,
    tree,
    signer: own,
    hindrance: () => made.hindrance,
    signed,
    leaves,
    onRefused: (detail) => {
      refusals.push(detail);
    },
  });
  return made as Stage;
}

function folder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-keys-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** The size in a note that this node's key has signed. */
async function signedSize({ signer }: Stage): Promise<number | string> {
  const signing = await signer.sign();
  if (!signing.ok) return signing.detail;
  const note = must(parseNote(signing.checkpoint.note), 'it is a note');
  const key = must(parseVerifierKey(own.verifierKey(signer.origin)), 'it is a key');
  if (verifyNote(note, [key]) !== 'signed') return 'not signed';
  return must(parseCheckpoint(note.text), 'it is a checkpoint').size;
}

test('each signature extends the one before, and what was signed is on disk', async (t) => {
  const dir = folder(t);
  const at = stage(new SignedTrees(dir));
  for (const leaves of [[], ['a'], ['a', 'b', 'c'], ['a', 'b', 'c']]) {
    at.tree.leaves = leaves;
    t.equal(await signedSize(at), leaves.length);
    t.match(new SignedTrees(dir).last('svc.run/tree'), { size: leaves.length });
  }
  t.strictSame(at.refusals, []);
});

test('a rolled back log is refused, shorter or longer, also after a restart', async (t) => {
  const dir = folder(t);
  const before = stage(new SignedTrees(dir));
  before.tree.leaves = ['a', 'b', 'c'];
  t.equal(await signedSize(before), 3);

  const after = stage(new SignedTrees(dir));
  after.tree.leaves = ['a', 'b'];
  t.match(await signedSize(after), /this node has signed 3 leaves .*, and its log has only 2 now/u);
  after.tree.leaves = ['a', 'b', 'x', 'y'];
  t.match(await signedSize(after), /has signed 3 leaves .*, and the same leaves of its log have the root/u);
  t.match(await signedSize(after), /cannot sign a checkpoint of the Merkle tree/u);
  t.equal(after.refusals.length, 2, 'each reason is reported once');
  t.match(new SignedTrees(dir).last('svc.run/tree'), { size: 3 }, 'nothing else is recorded');
  after.tree.leaves = ['a', 'b', 'c', 'd'];
  t.equal(await signedSize(after), 4, 'the tree that it signed, and more');
});

test('an earlier tree is signed without a record, and neither a larger nor a changed one', async (t) => {
  const signed = new SignedTrees(folder(t));
  const { tree, signer } = stage(signed);
  tree.leaves = ['a', 'b', 'c'];
  t.throws(() => signer.signEarlier(1), RangeError, 'nothing was signed yet');
  await signer.sign();
  tree.leaves = ['a', 'b', 'c', 'd'];
  const note = must(parseNote(signer.signEarlier(2)), 'it is a note');
  const key = must(parseVerifierKey(own.verifierKey(signer.origin)), 'it is a key');
  t.equal(verifyNote(note, [key]), 'signed');
  t.match(parseCheckpoint(note.text), { size: 2, root: Buffer.from(tree.root(2)) });
  t.equal(signed.last(signer.origin)?.size, 3, 'nothing was recorded');
  t.throws(() => signer.signEarlier(4), RangeError);
  tree.leaves = ['a', 'x', 'c', 'd'];
  t.throws(() => signer.signEarlier(1), RangeError, 'the log was changed');
});

test('the tree of a new epoch has a record of its own', async (t) => {
  const at = stage(new SignedTrees(folder(t)));
  at.tree.leaves = ['a', 'b', 'c'];
  t.equal(await signedSize(at), 3);
  at.id = 'restored';
  at.tree.leaves = ['a', 'b'];
  t.equal(await signedSize(at), 2);
  at.id = 'tree';
  t.match(await signedSize(at), /has signed 3 leaves/u);
});

test('after a crash between record and answer the next signature extends the record', async (t) => {
  const dir = folder(t);
  const disk = new SignedTrees(dir);
  const crashing = stage({
    last: (origin) => disk.last(origin),
    record: async (origin, signed) => {
      await disk.record(origin, signed);
      throw new Error('the process ends here');
    },
  });
  crashing.tree.leaves = ['a', 'b'];
  t.match(await signedSize(crashing), /cannot be written to the disk: the process ends here/u);
  const rolledBack = stage(new SignedTrees(dir));
  rolledBack.tree.leaves = ['a'];
  t.match(await signedSize(rolledBack), /has signed 2 leaves/u, 'the record counts, though nothing left');
  rolledBack.tree.leaves = ['a', 'b', 'c'];
  t.equal(await signedSize(rolledBack), 3);
});

test('nothing is signed before it is recorded, and calls at one time share a record', async (t) => {
  const records: TreeSize[] = [];
  let land: () => void = () => undefined;
  const at = stage({
    last: () => records.at(-1),
    record: async (_origin, signed) => {
      await new Promise<void>((resolve) => {
        land = resolve;
      });
      records.push(signed);
    },
  });
  at.tree.leaves = ['a'];
  const [first, second] = [signedSize(at), signedSize(at)];
  at.tree.leaves = ['a', 'b'];
  const third = signedSize(at);
  land();
  t.strictSame(await Promise.all([first, second]), [1, 1]);
  while (records.length === 1) {
    land();
    await Promise.resolve();
  }
  t.equal(await third, 2, 'a call gets what was folded when it came');
  t.strictSame(
    records.map(({ size }) => size),
    [1, 2],
  );
});

test('nothing is signed without a trusted key, or while the tree is being built', async (t) => {
  const dir = folder(t);
  const at = stage(new SignedTrees(dir));
  at.hindrance = 'it is being built';
  at.tree.leaves = ['a'];
  t.equal(await signedSize(at), 'it is being built');
  t.equal(new SignedTrees(dir).last('svc.run/tree'), undefined);
  at.hindrance = undefined;
  t.equal(await signedSize(at), 1);
  at.hindrance = 'it is being rebuilt';
  t.equal(await signedSize(at), 'it is being rebuilt');
});

test('the latest trees are remembered, and a damaged record stops the start', async (t) => {
  const dir = folder(t);
  const trees = new SignedTrees(dir);
  for (let index = 0; index < 70; index += 1) await trees.record(String(index), { size: index, root: 'r' });
  await trees.record('6', { size: 7, root: 'r' });
  const again = new SignedTrees(dir);
  t.strictSame(
    [again.last('5'), again.last('6'), again.last('69')],
    [undefined, { size: 7, root: 'r' }, { size: 69, root: 'r' }],
  );
  for (const text of ['', '{', '[1]', '{"a":{"size":1}}', 'null']) {
    writeFileSync(join(dir, 'signed.json'), text);
    t.throws(() => new SignedTrees(dir), { name: 'StartError', message: /signed\.json is damaged/u }, text);
  }
  t.not(readFileSync(join(dir, 'signed.json'), 'utf8'), '', 'it is left as it is');
});

test('nothing is signed or recorded before the leaves equal the log', async (t) => {
  const dir = folder(t);
  const asked: (readonly [size: number, known: number])[] = [];
  const found: (Awaited<ReturnType<NonNullable<Leaves>['hindrance']>> | 'indexes')[] = [
    { detail: 'one leaf of three', isFault: false },
    { detail: 'leaf 1 is another one', isFault: true },
    'indexes',
  ];
  const leaves: Leaves = {
    hindrance: async (size, known) => {
      asked.push([size, known]);
      const next = found.shift();
      if (next !== 'indexes') return Promise.resolve(next);
      at.hindrance = 'the indexes are being built';
      return undefined;
    },
  };
  const at: Stage = stage(new SignedTrees(dir), { leaves });
  at.tree.leaves = ['a', 'b', 'c'];
  t.equal(await signedSize(at), 'one leaf of three');
  t.strictSame(at.refusals, [], 'a comparison that goes on is no fault');
  t.equal(await signedSize(at), 'cannot sign a checkpoint of the Merkle tree: leaf 1 is another one');
  t.strictSame(at.refusals, ['leaf 1 is another one']);
  t.equal(await signedSize(at), 'the indexes are being built', 'the tree was dropped meanwhile');
  t.equal(new SignedTrees(dir).last('svc.run/tree'), undefined);
  at.hindrance = undefined;
  t.equal(await signedSize(at), 3);
  at.tree.leaves = ['a', 'b', 'c', 'd'];
  t.equal(await signedSize(at), 4);
  t.strictSame(asked.at(-1), [4, 3], 'signed leaves are known');
});
