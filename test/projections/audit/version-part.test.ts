/** The version index against a plain list of each object's positions: blocks, clashing keys, rollbacks, restarts. */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { test, type Test } from 'tap';

import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { countUpTo, endOf, extended, firstIn, numberAt } from '../../../projections/audit/position-block.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import { epochShift, logPosition, streamName, streamRevision, type RecordedEvent } from '../../../src/log/log.ts';
import { typeKey } from '../../../src/resource/type/index-entry.ts';
import { proposed } from '../../support/memory/log-events.ts';

const type = typeKey('widgets.example.com');

test('a block gives back ascending numbers, in any steps of its growth', (t) => {
  const difference = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 42 }));
  const added = fc.array(fc.array(difference, { maxLength: 40 }), { maxLength: 8 });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 50 }),
      added,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (first, steps, at) => {
        let block: Buffer = extended(Buffer.alloc(0), { count: 0, last: 0 }, [first]);
        const numbers = [first];
        for (const differences of steps) {
          const more: number[] = [];
          for (const one of differences) more.push((more.at(-1) ?? numbers.at(-1) ?? 0) + one);
          block = extended(block, endOf(block), more);
          numbers.push(...more);
        }
        const last = numbers.at(-1) ?? 0;
        const limit = Math.floor(first - 2 + (last - first + 4) * at);
        return (
          firstIn(block) === first &&
          endOf(block).count === numbers.length &&
          endOf(block).last === last &&
          numbers.every((number, index) => numberAt(block, index) === number) &&
          numberAt(block, numbers.length) === undefined &&
          [limit, last, first].every(
            (one) => countUpTo(block, one) === numbers.filter((number) => number <= one).length,
          )
        );
      },
    ),
  );
  t.throws(() => extended(Buffer.from([5]), { count: 1, last: 5 }, [5]), RangeError);
  t.throws(() => extended(Buffer.alloc(0), { count: 0, last: 0 }, [2 ** 53]), RangeError);
  t.end();
});

function folderOf(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-versions-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

type Opened = { readonly epoch: number; readonly part: VersionPart; readonly tables: AuditTables };

function opened(dir: string, epoch: number, digest?: (stream: string) => Buffer): Opened {
  const part = new VersionPart({ identity: () => ({ epoch }), ...(digest === undefined ? {} : { digest }) });
  return { epoch, part, tables: new AuditTables(dir, [part]) };
}

/** Commits a batch, as the fold does. */
function committed({ epoch, part, tables }: Opened, batch: readonly RecordedEvent[], fails = false): void {
  const { position = logPosition(0n), id: eventId = '' } = batch.at(-1) ?? {};
  try {
    tables.commit({ logId: 'one', epoch: 0, position, eventId, events: 1, time: 0 }, () => {
      for (const recorded of batch) part.add(recorded, Number(recorded.position - epochShift(epoch)));
      part.write();
      if (fails) throw new Error('another part fails');
    });
    part.committed();
  } catch (error) {
    part.rolledBack();
    if (!fails) throw error;
  }
}

/** A log of several objects, by the number of the object of each event; `gaps` between the positions. */
class DrawnLog {
  readonly positions = new Map<string, bigint[]>();
  readonly #shift: bigint;
  #next = 1n;

  constructor(epoch: number) {
    this.#shift = epochShift(epoch);
  }

  event(object: number, gap: bigint): RecordedEvent {
    const name = `w${String(object)}`;
    const own = this.positions.get(name) ?? [];
    const revision = streamRevision(own.length);
    this.#next += gap;
    const position = logPosition(this.#next + this.#shift);
    own.push(position);
    this.positions.set(name, own);
    return {
      ...proposed(`${name}/${String(revision)}`),
      stream: streamName(`object:${type}/${name}`),
      revision,
      position,
      endsAppend: true,
    };
  }

  /** Forgets the events of a batch that was rolled back. */
  undo(batch: readonly RecordedEvent[]): void {
    for (const { stream } of batch) this.positions.get(stream.slice(`object:${type}/`.length))?.pop();
  }
}

function assertEqual(t: Test, { part }: Opened, log: DrawnLog, probes: readonly bigint[]): void {
  for (const [name, positions] of [...log.positions].filter(([, { length }]) => length > 0)) {
    for (const probe of [...probes, ...positions.slice(-3)]) {
      const count = positions.filter((one) => one <= probe).length;
      const expected = count === 0 ? undefined : count - 1;
      if (part.lastAt(type, name, logPosition(probe)) !== expected)
        t.fail(`${name} at ${probe.toString()} is not revision ${String(expected)}`);
    }
    for (const revision of [0, 255, 256, positions.length - 1, positions.length].filter((one) => one >= 0)) {
      if (part.positionOf(type, name, streamRevision(revision)) !== positions[revision])
        t.fail(`the position of revision ${String(revision)} of ${name} differs`);
    }
  }
}

/** Nearly every second stream clashes with an earlier one. */
const weakDigest = (stream: string): Buffer => {
  const digest = hash('sha256', stream, 'buffer');
  return Buffer.concat([Buffer.alloc(7), Buffer.from([(digest[0] ?? 0) % 4]), digest.subarray(8)]);
};

test('the last event at each position is that of the log', async (t) => {
  const batch = fc.record({
    objects: fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.bigInt({ min: 1n, max: 100_000n })), {
      maxLength: 12,
    }),
    times: fc.integer({ min: 1, max: 60 }),
    end: fc.constantFrom('commit', 'commit', 'commit', 'roll back', 'open again'),
  });
  const drawn = fc.record({
    epoch: fc.constantFrom(0, 0, 3),
    isWeak: fc.boolean(),
    batches: fc.array(batch, { maxLength: 14 }),
  });
  const dir = folderOf(t);
  let run = 0;
  const check = async ({
    epoch,
    isWeak,
    batches,
  }: typeof drawn extends fc.Arbitrary<infer Drawn> ? Drawn : never): Promise<void> => {
    run += 1;
    const own = join(dir, String(run));
    const log = new DrawnLog(epoch);
    const digest = isWeak ? weakDigest : undefined;
    let index = opened(own, epoch, digest);
    for (const { objects, times, end } of batches) {
      const events = Array.from({ length: times }, () => objects.map(([object, gap]) => log.event(object, gap))).flat();
      if (end === 'roll back') {
        log.undo(events);
        committed(index, events, true);
      } else if (events.length > 0) committed(index, events);
      if (end === 'open again') {
        await index.tables.close();
        index = opened(own, epoch, digest);
      }
    }
    const probes = [1n, 5_000n, 70_000n, 5_000_000n, 10n ** 12n].map((one) => one + epochShift(epoch));
    assertEqual(t, index, log, probes);
    await index.tables.close();
  };
  await fc.assert(fc.asyncProperty(drawn, check), { numRuns: 60 });
});

test('a revision that does not follow is refused', async (t) => {
  const index = opened(folderOf(t), 0);
  const log = new DrawnLog(0);
  committed(index, [log.event(1, 1n)]);
  log.event(1, 1n);
  t.throws(() => {
    committed(index, [log.event(1, 1n)]);
  }, /revision 2 of object:widgets\.example\.com\/w1 does not follow/u);
  t.equal(index.part.lastAt(type, 'w1', logPosition(100n)), 0);
  await index.tables.close();
});
