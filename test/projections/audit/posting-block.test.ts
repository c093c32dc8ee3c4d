import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { test } from 'tap';

import { decodeBlock, decodeTail, decodeTailRow, Tail } from '../../../projections/audit/posting-block.ts';
import { Intersection, unionOf, type PositionCursor } from '../../../projections/audit/position-cursors.ts';
import { Postings } from '../../../projections/audit/postings.ts';
import { LmdbEnvironment } from '../../../projections/lmdb-environment.ts';
import type { PositionOrder } from '../../../projections/audit/position-cursors.ts';

const positions = fc
  .uniqueArray(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.maxSafeInteger().map(Math.abs)), { maxLength: 40 })
  .map((all) => all.filter((position) => position > 0).sort((one, other) => one - other));

test('positions of a tail are those added, in its row and as a block', async (t) => {
  fc.assert(
    fc.property(positions, fc.nat(10_000_000), (all, sealed) => {
      let tail = new Tail(sealed);
      for (const [index, position] of all.entries()) {
        if (index % 3 === 2) tail = decodeTail(tail.encode());
        tail.add(position);
      }
      t.strictSame(decodeBlock(tail.block()), all);
      t.strictSame(decodeTailRow(tail.encode()), { total: sealed + all.length, positions: all });
    }),
  );
});

test('a position is added once, and none before the last', async (t) => {
  const tail = new Tail();
  t.equal(tail.add(7), true);
  t.equal(tail.add(7), false);
  t.throws(() => tail.add(6), /cannot add position 6 after position 7/u);
  t.strictSame(decodeBlock(tail.block()), [7]);
  t.throws(() => decodeBlock(Buffer.from([0x80])), /truncated/u);
});

function cursorOver(all: readonly number[], order: PositionOrder): PositionCursor {
  return {
    size: all.length,
    seek: (from) =>
      order === 'oldest' ? all.find((position) => position >= from) : all.findLast((position) => position <= from),
  };
}

test('unions and intersections of cursors are those of their positions, in both orders', async (t) => {
  const few = fc
    .uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 30 })
    .map((all) => all.sort((one, other) => one - other));
  const clauses = fc.array(fc.array(few, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(clauses, fc.constantFrom('oldest' as const, 'newest' as const), (drawn, order) => {
      const step = order === 'oldest' ? 1 : -1;
      const common = new Intersection(
        drawn.map((sets) =>
          unionOf(
            sets.map((set) => cursorOver(set, order)),
            order,
          ),
        ),
      );
      const found: number[] = [];
      for (let at: number | undefined = order === 'oldest' ? 0 : 50; at !== undefined;) {
        const next = common.step(at);
        if (next?.found === true) found.push(next.at);
        at = next === undefined ? undefined : next.found ? next.at + step : next.at;
      }
      const wanted = Array.from({ length: 41 }, (_, index) => index).filter((position) =>
        drawn.every((sets) => sets.some((set) => set.includes(position))),
      );
      t.strictSame(found, order === 'oldest' ? wanted : wanted.reverse());
    }),
  );
});

test('a term of many blocks is sought at any place, after rollbacks and restarts', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-postings-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const all: number[] = [];
  let [environment, postings] = opened(folder);
  for (let batch = 0; batch < 40; batch += 1) {
    const more = Array.from({ length: 97 }, (_, index) => 1 + batch * 1_000 + index * (1 + (batch % 7)));
    const write = (): void => {
      for (const position of more) postings.add('t', 'erm', position);
      for (const position of more) if (position % 2 === 0) postings.add('o', 'ther', position);
      postings.flush();
    };
    t.throws(() => {
      environment.commit(() => {
        write();
        throw new Error('rolled back');
      });
    }, /rolled back/u);
    postings.forget();
    environment.commit(write);
    all.push(...more);
    if (batch % 15 === 14) {
      await environment.close();
      [environment, postings] = opened(folder);
    }
  }
  for (const order of ['oldest', 'newest'] as const)
    for (const [term, positions] of [
      ['term', all],
      ['other', all.filter((position) => position % 2 === 0)],
      ['none', []],
    ] as const) {
      const cursor = postings.cursor(term, order);
      t.equal(cursor.size, positions.length);
      const plain = cursorOver(positions, order);
      for (let from = 0; from < 41_000; from += 37) t.equal(cursor.seek(from), plain.seek(from));
    }
  t.strictSame(postings.terms('t'), ['term']);
  await environment.close();
});

function opened(folder: string): [LmdbEnvironment, Postings] {
  const environment = new LmdbEnvironment(folder, { databases: 4 });
  environment.opened();
  const { root } = environment;
  const tails = root.openDB<Buffer, string>({ name: 'tails', encoding: 'binary' });
  const blocks = root.openDB<Buffer, Uint8Array>({ name: 'blocks', encoding: 'binary', keyEncoding: 'binary' });
  return [environment, new Postings({ tails, blocks })];
}
