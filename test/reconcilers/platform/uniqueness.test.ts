/**
 * Indexes that become unique: nodes are drained, stored values are claimed at their objects' heads, and then the log
 * records the enforcement.
 */
import { test } from 'tap';

import { uniquenessRetryMs } from '../../../reconcilers/platform/platform-limits.ts';
import { leaseMs, leaseRenewMs } from '../../../src/limits/reconcilers.ts';
import type { EventLog } from '../../../src/log/log.ts';
import type { LateWrite } from '../../../src/read/declarations.ts';
import { merge, remove } from '../../support/given.ts';
import { altered, shown, verdict } from '../../support/writing.ts';
import { computed, plain, unique, UniqueStage } from './uniqueness-stage.ts';

const until = leaseMs + 4 * leaseRenewMs;

test('a type without objects is enforced at its declaration, without another event', async (t) => {
  const stage = await UniqueStage.open(t, { types: [unique] });
  stage.one.lead();
  await stage.declare(unique);
  t.ok(stage.one.isEnforced);
  await stage.write('a', 's');
  await stage.rest();
  t.same([await stage.enforcements(), await stage.history('a'), stage.one.reports], [[], ['ObjectCreated'], []]);
});

test("stored values are claimed once, at their objects' heads, and then the log records the enforcement", async (t) => {
  const stage = await UniqueStage.open(t, { types: [plain] });
  stage.one.lead();
  await stage.declare(plain);
  const names = Array.from({ length: 150 }, (_, index) => `w${String(index)}`);
  for (const name of names) await stage.write(name, name);
  await stage.declare(unique);
  await stage.rest();
  t.ok(stage.one.isEnforced);
  for (const name of [names[0]!, names[149]!])
    t.same([await stage.history(name), await stage.claimant(name)], [['ObjectCreated', 'NameFenced'], name]);
  t.match(stage.one.door.object('w7'), {
    metadata: { version: 1, generation: 1 },
    spec: { title: 'w7', serial: 'w7' },
  });
  t.same(await stage.enforcements(), [{ type: 'UniqueEnforced', declared: 1, late: 0, indexes: ['spec.serial'] }]);
  t.same(stage.one.reports, ['pending', 'claiming', 'over', 'enforced spec.serial']);
  const before = (await stage.events()).length;
  stage.one.lead(false);
  stage.one.lead();
  await stage.rest();
  t.equal((await stage.events()).length, before, 'the next leader has nothing to do');
  t.equal(
    verdict(await stage.one.door.write(merge({ spec: { serial: 'w1' } }, { name: 'w0' }), {}, unique)),
    'unique-value-taken',
  );
  t.same(stage.one.errors, []);
});

test('duplicates are named and prevent the enforcement until the value changes or the holder is deleted', async (t) => {
  const stage = await UniqueStage.open(t, { types: [plain] });
  stage.one.lead();
  await stage.declare(plain);
  for (const name of ['a', 'b', 'c', 'd']) await stage.write(name, name === 'd' ? 'other' : 's');
  await stage.declare(unique);
  await stage.rest();
  t.notOk(stage.one.isEnforced);
  const holder = await stage.claimant('s');
  const [one, other] = ['a', 'b', 'c'].filter((name) => name !== holder);
  t.equal(stage.one.reports.at(-1), `claiming ${one!} spec.serial ${holder!}, ${other!} spec.serial ${holder!}`);
  t.same(await stage.history(one!), ['ObjectCreated'], 'it stays as it was');
  t.equal(
    verdict(await stage.one.door.write(merge({ spec: { size: 1 } }, { name: one! }), {}, unique)),
    'unique-value-taken',
  );
  shown(await stage.one.door.write(merge({ spec: { serial: 't' } }, { name: one! }), {}, unique));
  await stage.rest();
  t.equal(stage.one.reports.at(-1), `claiming ${other!} spec.serial ${holder!}`);
  shown(await stage.one.door.write(remove({}, holder), {}, unique));
  await stage.rest();
  t.ok(stage.one.isEnforced);
  t.same([await stage.claimant('s'), await stage.history(other!)], [other, ['ObjectCreated', 'NameFenced']]);
  t.same(stage.one.errors, []);
});

test('objects with claims are not rewritten for a new index function or a first declaration', async (t) => {
  const stage = await UniqueStage.open(t, { types: [unique] });
  await stage.write('a', 's');
  stage.one.lead();
  await stage.declare(unique);
  await stage.rest();
  t.ok(stage.one.isEnforced);
  await stage.declare(computed);
  t.notOk(stage.one.isEnforced);
  await stage.rest();
  t.ok(stage.one.isEnforced);
  t.same([await stage.history('a'), (await stage.enforcements()).length], [['ObjectCreated'], 2]);
  await stage.lateCreate('b', 's', 0);
  await stage.rest();
  t.notOk(stage.one.isEnforced);
  t.equal(stage.one.reports.at(-1), 'claiming b spec.serial a', 'that its event says so is not enough');
});

test('an index that becomes plain and unique again is claimed again', async (t) => {
  const stage = await UniqueStage.open(t, { types: [unique] });
  stage.one.lead();
  await stage.declare(unique);
  await stage.write('a', 's');
  await stage.declare(plain);
  await stage.write('b', 't');
  await stage.declare(unique);
  await stage.rest();
  t.ok(stage.one.isEnforced);
  t.same(
    [await stage.history('a'), await stage.history('b')],
    [
      ['ObjectCreated', 'NameFenced'],
      ['ObjectCreated', 'NameFenced'],
    ],
  );
  t.same([await stage.claimant('s'), await stage.claimant('t')], ['a', 'b']);
});

test('an index that becomes plain before its enforcement is left alone', async (t) => {
  const stage = await UniqueStage.open(t, { types: [plain] });
  stage.one.lead();
  await stage.declare(plain);
  for (const name of ['a', 'b']) await stage.write(name, 's');
  await stage.declare(unique);
  await stage.rest();
  await stage.declare(plain);
  await stage.rest();
  t.same([stage.one.uniqueness.steps(), stage.one.reports.at(-1), await stage.enforcements()], [[], 'over', []]);
  for (const name of ['a', 'b']) shown(await stage.one.door.write(merge({ spec: { size: 1 } }, { name }), {}, plain));
});

test('a late create revokes the enforcement: its value is claimed, or it is a duplicate', async (t) => {
  const stage = await UniqueStage.open(t, { types: [plain] });
  const late: LateWrite[] = [];
  t.teardown(
    stage.one.door.models.declarations.onLate((write) => {
      late.push(write);
    }),
  );
  stage.one.lead();
  await stage.declare(plain);
  await stage.write('a', 's');
  await stage.declare(unique);
  await stage.rest();
  await stage.lateCreate('b', 't', 0);
  await stage.rest();
  t.ok(stage.one.isEnforced);
  t.same([await stage.history('b'), await stage.claimant('t'), late.length], [['ObjectCreated', 'NameFenced'], 'b', 1]);
  await stage.lateCreate('c', 's', 0);
  await stage.rest();
  t.notOk(stage.one.isEnforced);
  t.match(late.at(-1), { name: 'c', declared: 0, indexes: ['spec.serial'] });
  t.equal(stage.one.reports.at(-1), 'claiming c spec.serial a');
  t.equal(
    verdict(await stage.one.door.write(merge({ spec: { size: 1 } }, { name: 'c' }), {}, unique)),
    'unique-value-taken',
  );
});

test('claims begin once every live node is drained; a silent one is not waited for', async (t) => {
  let isCut = false;
  const cut = (log: EventLog): EventLog =>
    altered(log, {
      append: async (...call) =>
        isCut ? { ok: false, reason: 'unavailable', cause: new Error('cut off') } : log.append(...call),
    });
  const stage = await UniqueStage.open(t, { types: [plain, plain], through: [undefined, cut] });
  const [one, two] = stage.nodes as [UniqueStage['one'], UniqueStage['one']];
  for (const { heartbeat } of stage.nodes) heartbeat.start();
  one.lead();
  await stage.declare(plain);
  await stage.write('a', 's');
  await stage.pass(until);
  two.door.pace = 'lazy';
  await stage.declare(unique);
  await stage.pass(2 * until);
  t.same(
    [one.uniqueness.steps()[0]?.step, await stage.history('a')],
    ['pending', ['ObjectCreated']],
    'the other has not folded the declaration',
  );
  isCut = true;
  await stage.pass(until + leaseMs);
  t.ok(one.isEnforced);
  t.same(await stage.history('a'), ['ObjectCreated', 'NameFenced']);
});

test('a live node that has folded the declaration is drained, and so is one with an older one', async (t) => {
  const stage = await UniqueStage.open(t, { types: [plain, plain] });
  for (const { heartbeat } of stage.nodes) heartbeat.start();
  stage.one.lead();
  await stage.declare(plain);
  await stage.write('a', 's');
  await stage.declare(unique);
  await stage.pass(leaseMs);
  t.notOk(stage.one.isEnforced, 'a live node may not have been heard yet');
  await stage.pass(until);
  t.ok(stage.nodes.every(({ isEnforced }) => isEnforced));
});

test('the node that sent an append of unknown outcome fences it before it is drained', async (t) => {
  let isLost = false;
  const losing = (log: EventLog): EventLog =>
    altered(log, {
      append: async (...call) =>
        isLost && call[0].endsWith('/lost')
          ? { ok: false, reason: 'unknown', cause: new Error('no answer') }
          : log.append(...call),
    });
  const stage = await UniqueStage.open(t, { types: [plain], through: [losing] });
  stage.one.lead();
  await stage.declare(plain);
  await stage.write('a', 's');
  isLost = true;
  t.equal(
    verdict(
      await stage.one.door.write(
        {
          type: 'create',
          object: {
            apiVersion: plain.apiVersion,
            kind: plain.kind,
            metadata: { name: 'lost' },
            spec: { title: 'x', serial: 's' },
          },
        },
        {},
        plain,
      ),
    ),
    'unavailable',
  );
  await stage.declare(unique);
  await stage.pass(5 * uniquenessRetryMs);
  t.same([stage.one.isEnforced, await stage.history('lost')], [false, []], 'it may still land');
  isLost = false;
  await stage.pass(5 * uniquenessRetryMs);
  t.same([stage.one.isEnforced, await stage.history('lost')], [true, ['NameFenced']]);
});

test('the next leader resumes after a death in any step, and rewrites nothing twice', async (t) => {
  for (const dies of ['pending', 'claiming', 'enforcing'] as const) {
    let isDead = false;
    let appends = 0;
    const dying = (log: EventLog): EventLog =>
      altered(log, {
        append: async (...call) => {
          if (dies === 'enforcing' && call[0].startsWith('unique:')) isDead = true;
          if (dies === 'claiming' && call[1][0]?.type === 'NameFenced' && (appends += 1) > 20) isDead = true;
          return isDead && !call[0].startsWith('lease:')
            ? { ok: false, reason: 'unavailable', cause: new Error('dead') }
            : log.append(...call);
        },
      });
    const stage = await UniqueStage.open(t, { types: [plain, plain], through: [dying, undefined] });
    const [one, two] = stage.nodes as [UniqueStage['one'], UniqueStage['one']];
    for (const { heartbeat } of stage.nodes) heartbeat.start();
    one.lead();
    await stage.declare(plain);
    const names = Array.from({ length: 40 }, (_, index) => `w${String(index)}`);
    for (const name of names) await stage.write(name, name);
    await stage.declare(unique);
    await stage.pass(dies === 'pending' ? leaseMs : until);
    t.notOk(one.isEnforced, dies);
    one.lead(false);
    two.lead();
    await stage.declare(unique, two);
    await stage.pass(2 * until);
    t.ok(two.isEnforced, dies);
    const histories = await Promise.all(names.map(async (name) => stage.history(name)));
    t.same(new Set(histories.map((history) => history.join())), new Set(['ObjectCreated,NameFenced']), dies);
  }
});

test('a failing log postpones it', async (t) => {
  let fails = 3;
  const failing = (log: EventLog): EventLog =>
    altered(log, {
      append: async (...call) =>
        call[0].startsWith('unique:') && (fails -= 1) >= 0
          ? { ok: false, reason: 'unavailable', cause: new Error('away') }
          : log.append(...call),
    });
  const stage = await UniqueStage.open(t, { types: [plain], through: [failing] });
  stage.one.lead();
  await stage.declare(plain);
  await stage.write('a', 's');
  await stage.declare(unique);
  await stage.pass(30 * uniquenessRetryMs);
  t.ok(stage.one.isEnforced);
  t.equal(stage.one.errors.length, 3);
});
