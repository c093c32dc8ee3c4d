/**
 * Of every stream that is folded the revisions follow each other; where they do not, folding stops before anything is
 * written.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'tap';
import type { Test } from 'tap';

import { foldedCategories } from '../../projections/fold-event.ts';
import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { eventSchema, type DomainEvent } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { LogCorruptError, logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { created, deleted, fenced, updated, widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';

const identity = { logId: 'the only one', epoch: 0 };
const [w1, w2] = ['w1', 'w2'].map((name) => `object:${widgets.key}/${name}`) as [string, string];
const claimed: DomainEvent = { type: 'ValueClaimed', holder: w1, through: 0 };
const hashed: DomainEvent = { type: 'PasswordSet', hash: 'a hash' };
const enforced: DomainEvent = { type: 'UniqueEnforced', declared: 0, late: 0, indexes: ['spec.serial'] };
const finished: DomainEvent = { type: 'CopyFinished', events: 0 };

type Written = readonly [stream: string, revision: number, event: DomainEvent];

const time = '2026-01-01T00:00:00.000Z';
const metadata = { actor: 'test', verb: 'write', requestId: 'r', time, schema: eventSchema, $correlationId: 'r' };

class Folding {
  readonly models: ObjectModels;
  #next = 1;

  constructor(t: Test) {
    const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-revisions-'));
    const tables = new LmdbTables(dir);
    t.teardown(async () => {
      await tables.close();
      rmSync(dir, { recursive: true, force: true });
    });
    this.models = new ObjectModels({ tables, identity: () => identity, types: () => widgets, clock: new FakeClock() });
  }

  /** From nothing. */
  foldAnew(written: readonly Written[], each: boolean): void {
    this.models.clear();
    this.#next = 1;
    this.fold(written, each);
  }

  /** `each`: a batch for every event, or one batch of all. */
  fold(written: readonly Written[], each = false): void {
    const events = written.map(([stream, revision, event]): RecordedEvent => {
      const position = logPosition(BigInt(this.#next++));
      const proposed = encodeEvent(idOf(`event ${String(position)}`), event, metadata);
      const place = { revision: streamRevision(revision), position, endsAppend: true };
      return { ...proposed, stream: streamName(stream), ...place };
    });
    for (const batch of each ? events.map((event) => [event]) : [events]) this.models.apply(batch);
  }
}

const declared: DomainEvent = { type: 'TypeDeclared', ...widgets.declaration! };
const wholes: Readonly<Record<string, readonly Written[]>> = {
  'an object that is made, changed, fenced, removed and made again': [
    [w1, 0, created()],
    [w1, 1, updated(created().object!)],
    [w1, 2, fenced(created().object)],
    [w1, 3, deleted(created().object!)],
    [w1, 4, fenced()],
    [w1, 5, created()],
    [w1, 6, updated(created().object!)],
  ],
  'a name that is fenced before its object is made': [
    [w2, 0, fenced()],
    [w2, 1, fenced()],
    [w2, 2, created()],
  ],
  'a guard': [
    ['guard:g', 0, claimed],
    ['guard:g', 1, claimed],
  ],
  'a type that is declared twice': [
    ['type:widgets.example.com', 0, declared],
    ['type:widgets.example.com', 1, declared],
  ],
  'a type with unique indexes enforced twice': [
    ['unique:widgets.example.com', 0, enforced],
    ['unique:widgets.example.com', 1, enforced],
  ],
  'intents of references and of a deletion, one of them withdrawn': [
    ['ref:widgets.example.com/w2', 0, { type: 'ReferencesIntended', targets: ['widgets.example.com/w1'], through: -1 }],
    ['ref:widgets.example.com/w2', 1, { type: 'IntentWithdrawn', revision: 0, through: -1 }],
    ['closing:widgets.example.com/w1', 0, { type: 'DeletionIntended', through: 0 }],
  ],
  'the log about itself': [
    ['platform:log', 0, finished],
    ['platform:log', 1, finished],
  ],
  'a secret, also of an object that is gone': [
    ['secret:u', 0, hashed],
    ['secret:u', 1, hashed],
    [w1, 0, created()],
    [w1, 1, deleted(created().object!)],
    ['secret:u', 2, hashed],
  ],
};

test('the cases cover every category of folded streams', async (t) => {
  t.same(
    [
      ...new Set(
        Object.values(wholes)
          .flat()
          .map(([stream]) => stream.slice(0, stream.indexOf(':'))),
      ),
    ].sort(),
    [...foldedCategories].sort(),
  );
});

for (const [name, whole] of Object.entries(wholes)) {
  test(`${name}: folded as written, and refused with a revision left out or repeated`, async (t) => {
    const folding = new Folding(t);
    for (const each of [false, true]) {
      folding.foldAnew(whole, each);
      for (const [at, [stream]] of whole.entries()) {
        const isLast = whole.findLastIndex(([other]) => other === stream) === at;
        const without = whole.filter((_, index) => index !== at);
        if (isLast) folding.foldAnew(without, each);
        else
          t.throws(
            () => {
              folding.foldAnew(without, each);
            },
            LogCorruptError,
            `without ${String(at)}`,
          );
        const repeated = whole.toSpliced(at, 0, whole[at]!);
        t.throws(
          () => {
            folding.foldAnew(repeated, each);
          },
          LogCorruptError,
          `${String(at)} twice`,
        );
      }
    }
  });
}

test('a first revision is folded once, whatever the table holds', async (t) => {
  const firsts: readonly (readonly Written[])[] = [
    [
      [w1, 0, created()],
      [w1, 0, created()],
    ],
    [
      [w1, 0, created()],
      [w1, 0, fenced()],
    ],
    [
      [w1, 0, fenced()],
      [w1, 0, created()],
    ],
    [
      [w1, 0, created()],
      [w1, 1, deleted(created().object!)],
      [w1, 0, created()],
    ],
  ];
  const folding = new Folding(t);
  for (const written of firsts)
    t.throws(() => {
      folding.foldAnew(written, true);
    }, LogCorruptError);
});

test('an event with an effect must be in a stream of its category', (t) => {
  const folding = new Folding(t);
  for (const event of [hashed, enforced, declared, created()]) {
    const elsewhere: readonly Written[] = [['claim:spec.serial', 0, event]];
    t.throws(
      () => {
        folding.foldAnew(elsewhere, true);
      },
      LogCorruptError,
      event.type,
    );
  }
  t.end();
});

test('a refused event is reported with its position, and nothing of its batch is kept', async (t) => {
  const folding = new Folding(t);
  folding.fold([[w1, 0, created()]]);
  t.throws(
    () => {
      folding.fold([
        [w2, 0, created()],
        [w1, 2, updated(created().object!)],
      ]);
    },
    { message: `the log is corrupt: ${w1} has revision 2 at position 3, but revision 1 was expected` },
  );
  t.equal(folding.models.position(), 1n);
  t.equal(folding.models.get(widgets.key, 'w2'), undefined);
  t.equal(folding.models.get(widgets.key, 'w1')?.revision, 0);
  t.match(folding.models.checkpoint(), { position: 1n });
});

test('known revisions survive a restart', async (t) => {
  const dir = t.testdir();
  for (const [start, revision] of [
    [1, 0],
    [2, 1],
    [3, 3],
  ] as const) {
    const tables = new LmdbTables(dir);
    const models = new ObjectModels({ tables, identity: () => identity, types: () => widgets, clock: new FakeClock() });
    const proposed = encodeEvent(idOf(String(start)), claimed, metadata);
    const place = { revision: streamRevision(revision), position: logPosition(BigInt(start)), endsAppend: true };
    const recorded = { ...proposed, stream: streamName('guard:g'), ...place };
    if (revision === start - 1) models.apply([recorded]);
    else t.throws(() => models.apply([recorded]), LogCorruptError);
    await tables.close();
  }
});
