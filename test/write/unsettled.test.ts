/** Appends of a node that may still land: what keeps it from being drained, and what settles them. */
import { test, type Test } from 'tap';

import { unsettledMax } from '../../src/limits/writes.ts';
import {
  logPosition,
  logStart,
  streamName,
  streamRevision,
  type AppendOutcome,
  type ExpectedRevision,
} from '../../src/log/log.ts';
import type { Declared } from '../../src/read/declarations.ts';
import type { StreamHead } from '../../src/read/objects.ts';
import { Unsettled } from '../../src/write/unsettled.ts';
import { widgets } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';
import { metadata } from '../reconcilers/platform/uniqueness-stage.ts';

const unknown: AppendOutcome = { ok: false, reason: 'unknown', cause: new Error('no answer') };
const landed: AppendOutcome = { ok: true, revision: streamRevision(0), position: logPosition(1n) };
const declaredAt = (revision: number): Declared => ({
  revision: streamRevision(revision),
  declaration: widgets.declaration!,
  since: {},
  always: {},
  enforced: {},
  late: 0,
});
const streamOf = (name: string) => streamName(`object:${widgets.key}/${name}`);

/** A node that has folded up to a position, and these heads. */
class Folded {
  position = logPosition(10n);
  declared: Declared | undefined = declaredAt(0);
  readonly heads = new Map<string, StreamHead>();
  readonly unsettled = new Unsettled({
    reader: { position: () => this.position, head: (_type, name) => this.heads.get(name) ?? { kind: 'absent' } },
    declarations: { declared: () => this.declared, onceUnique: () => new Set() },
  });

  async send(
    name: string,
    outcome: AppendOutcome | Promise<AppendOutcome>,
    expected: ExpectedRevision = 'absent',
  ): Promise<AppendOutcome> {
    const { declared: by } = this;
    return this.unsettled.track(
      { type: widgets.key, name, stream: streamOf(name), expected, by },
      Promise.resolve(outcome),
    );
  }
}

async function fencing(
  t: Test,
): Promise<{ readonly log: MemoryLog; readonly uuid: () => string; readonly metadata: () => typeof metadata }> {
  const log = new MemoryLog();
  t.teardown(async () => log.close());
  let ids = 0;
  return Promise.resolve({
    log,
    uuid: () => {
      ids += 1;
      return idOf(`fence ${String(ids)}`);
    },
    metadata: () => metadata,
  });
}

test('a pending append blocks only under another declaration, and until its outcome is known', async (t) => {
  const folded = new Folded();
  let answer: (outcome: AppendOutcome) => void = () => undefined;
  const sent = folded.send(
    'a',
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  folded.position = logPosition(20n);
  t.equal(folded.unsettled.drained(), 20n, 'it is decided by what counts');
  folded.declared = declaredAt(1);
  t.equal(folded.unsettled.drained(), 10n);
  answer(landed);
  await sent;
  t.equal(folded.unsettled.drained(), 20n);
});

test('a refused or unsent append blocks nothing, an unknown one blocks until a later event is folded', async (t) => {
  const folded = new Folded();
  await folded.send('a', { ok: false, reason: 'conflict', actual: streamRevision(3) });
  await folded.send('a', { ok: false, reason: 'unavailable', cause: new Error('away') });
  await t.rejects(folded.send('thrown', Promise.reject(new Error('who knows')), streamRevision(1)));
  await folded.send('gone', unknown);
  await folded.send('live', unknown, streamRevision(4));
  folded.declared = declaredAt(1);
  folded.position = logPosition(30n);
  folded.heads.set('gone', { kind: 'deleted', revision: streamRevision(0) });
  folded.heads.set('thrown', { kind: 'deleted', revision: streamRevision(2) });
  const live = (revision: number): StreamHead => ({
    kind: 'live',
    stored: { bytes: Buffer.alloc(0), revision: streamRevision(revision), position: logStart },
  });
  folded.heads.set('live', live(4));
  t.equal(folded.unsettled.drained(), 10n, 'its base is no answer');
  folded.heads.set('live', live(5));
  t.equal(folded.unsettled.drained(), 30n);
});

test('an unknown outcome is fenced under another declaration, where nothing is stored yet', async (t) => {
  const folded = new Folded();
  const given = await fencing(t);
  const { log } = given;
  for (const name of ['a', 'b']) await folded.send(name, unknown);
  await folded.send('stale', unknown, streamRevision(7));
  await folded.unsettled.fenceStale(given);
  t.equal(await log.readLast(streamOf('a')), undefined, 'it may land');
  folded.declared = declaredAt(1);
  folded.position = logPosition(40n);
  await log.append(
    streamOf('b'),
    [{ id: idOf('b'), type: 'ObjectCreated', data: Buffer.from('{"values":[]}'), metadata: Buffer.from('{}') }],
    'absent',
  );
  await folded.unsettled.fenceStale(given);
  t.equal((await log.readLast(streamOf('a')))?.type, 'NameFenced');
  t.equal(
    (await log.readStream(streamOf('b'), { from: streamRevision(0), limit: 9 })).length,
    1,
    'it has landed, or something else has',
  );
  t.equal(folded.unsettled.drained(), 10n, 'an end of a stream before the base is an older answer');
});

test('two simultaneous calls fence once, and a failed fence is retried', async (t) => {
  const folded = new Folded();
  const given = await fencing(t);
  await folded.send('a', unknown);
  folded.declared = declaredAt(1);
  folded.position = logPosition(20n);
  let appends = 0;
  const unavailable = {
    ...given,
    log: altered(given.log, {
      append: async () => {
        appends += 1;
        return Promise.resolve(unknown);
      },
    }),
  };
  await Promise.all([folded.unsettled.fenceStale(unavailable), folded.unsettled.fenceStale(unavailable)]);
  t.same([appends, folded.unsettled.drained()], [1, 10n]);
  await folded.unsettled.fenceStale(given);
  t.equal(folded.unsettled.drained(), 20n);
});

test('the remembered unknown outcomes are bounded', async (t) => {
  const folded = new Folded();
  for (let count = 0; count < unsettledMax - 1; count += 1) await folded.send(`w${String(count)}`, unknown);
  t.ok(folded.unsettled.hasRoom());
  await folded.send('last', unknown);
  t.notOk(folded.unsettled.hasRoom());
  folded.heads.set('last', { kind: 'deleted', revision: streamRevision(0) });
  t.ok(folded.unsettled.hasRoom(), 'one of them is known by now');
});
