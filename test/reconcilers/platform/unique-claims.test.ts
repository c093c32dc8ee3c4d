/** Claims of unique values are released once nobody holds the value, and never while somebody does. */
import { test, type Test } from 'tap';

import { claimStream, claimValue } from '../../../src/write/unique/unique-claims.ts';
import { eventSchema } from '../../../src/command/event.ts';
import { decodeEvent, isObjectEvent } from '../../../src/log/event-codec.ts';
import { logStart, streamName, type StreamName } from '../../../src/log/log.ts';
import { claimSweepMs } from '../../../reconcilers/platform/platform-limits.ts';
import { claimPendingWaitMs } from '../../../src/limits/writes.ts';
import { body } from '../../support/given.ts';
import { idOf } from '../../support/id-of.ts';
import { shown, verdict } from '../../support/writing.ts';
import { AccountStage, type End } from './account-stage.ts';

const serial = (name: string, value: string) => body({ metadata: { name }, spec: { title: name, serial: value } });
const create = async ({ access }: AccountStage, name: string, value: string) =>
  access.as({ kind: 'platform', part: 'test' }).write('widgets', { type: 'create', object: serial(name, value) });

async function opened(t: Test): Promise<AccountStage> {
  const stage = await AccountStage.open(t);
  shown(await create(stage, 'a', 's1'));
  return stage;
}

/** The claim of what `a` holds now. */
async function claimOfA({ access }: AccountStage): Promise<StreamName> {
  const [value] = (await access.events()).flatMap((event) => (isObjectEvent(event) ? event.values : [])).slice(-1);
  return claimStream(access.type('widgets').key, value!);
}

async function standing({ access: { log } }: AccountStage, claim: StreamName): Promise<string | undefined> {
  const last = await log.readLast(claim);
  return last === undefined ? undefined : decodeEvent(last).event.type;
}

/** The claim of a failed write: its writer died before the append. */
async function abandoned(stage: AccountStage, holder: string): Promise<StreamName> {
  const claim = await claimOfA(stage);
  shown(await stage.as().patch('widgets', 'a', { spec: { serial: 's2' } }));
  const { log, clock } = stage.access;
  const [type, value] = [stage.access.type('widgets').key, { index: claim.split('/')[1]!, hash: claim.split('/')[2]! }];
  const claimed = await stage.access.settle(
    claimValue(
      {
        log,
        clock,
        uuid: () => idOf(`of ${holder}`),
        metadata: () => ({
          actor: 'test',
          verb: 'create',
          requestId: 'r',
          time: new Date(clock.now()).toISOString(),
          schema: eventSchema,
          $correlationId: 'r',
        }),
      },
      { type, value, me: streamName(`object:${type}/${holder}`), base: 'absent' },
    ),
  );
  if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome);
  return claim;
}

test('the values of moved and removed objects are released; held ones are not', async (t) => {
  const stage = await opened(t);
  stage.lead(['claims', 'collector']);
  const first = await claimOfA(stage);
  await stage.settle();
  t.equal(await standing(stage, first), 'ValueClaimed');
  shown(await stage.as().patch('widgets', 'a', { spec: { serial: 's2' } }));
  await stage.settle();
  t.equal(await standing(stage, first), 'ValueReleased');
  const second = await claimOfA(stage);
  shown(await stage.as().delete('widgets', 'a'));
  await stage.settle();
  t.equal(await standing(stage, second), 'ValueReleased');
  shown(await create(stage, 'a', 's2'));
  await stage.settle();
  t.equal(await standing(stage, second), 'ValueClaimed', 'created again, it holds its claimed value');
  t.equal(verdict(await create(stage, 'b', 's2')), 'unique-value-taken');
  t.same(stage.errors, []);
});

test('a claim of a failed write is released at a start, after its append is waited for and fenced', async (t) => {
  const stage = await opened(t);
  const claim = await abandoned(stage, 'ghost');
  stage.lead(['claims']);
  await stage.settle();
  await stage.pass(claimPendingWaitMs - 500, 100);
  t.equal(await standing(stage, claim), 'ValueClaimed', 'the append may still land');
  t.same(await stage.history('widgets', 'ghost'), []);
  await stage.pass(1_000, 100);
  t.equal(await standing(stage, claim), 'ValueReleased');
  t.same(await stage.history('widgets', 'ghost'), ['NameFenced']);
  t.equal(verdict(await create(stage, 'ghost', 's1')), 'ok', 'name and value are free');
  t.same(stage.errors, []);
});

test('after a stop around any append the next leader completes the work, and so do two at once', async (t) => {
  const ends: readonly (End | undefined)[] = [
    { atWrite: 1, isMade: false },
    { atWrite: 1, isMade: true },
    { atWrite: 2, isMade: false },
    { atWrite: 2, isMade: true },
    undefined,
  ];
  for (const end of ends) {
    const stage = await opened(t);
    const claim = await abandoned(stage, 'ghost');
    stage.lead(['claims'], end);
    if (end === undefined) stage.lead(['claims']);
    await stage.settle();
    await stage.pass(2 * claimPendingWaitMs, 100);
    await stage.stopAll();
    stage.lead(['claims']);
    await stage.settle();
    await stage.pass(2 * claimPendingWaitMs, 100);
    t.equal(await standing(stage, claim), 'ValueReleased');
    t.same(await stage.history('widgets', 'ghost'), ['NameFenced']);
    t.equal(verdict(await create(stage, 'b', 's1')), 'ok');
    t.equal(verdict(await create(stage, 'c', 's2')), 'unique-value-taken', 'a held value stays held');
    t.same(stage.errors, []);
  }
});

test('a value claimed again while its release is decided is not released', async (t) => {
  const stage = await opened(t);
  const claim = await claimOfA(stage);
  const leader = stage.lead(['claims']);
  let isLate = false;
  leader.before = async (what) => {
    if (isLate || what !== 'append') return;
    isLate = true;
    shown(
      await stage.access.execute(
        stage.access.type('widgets'),
        {
          type: 'patch',
          name: 'a',
          patch: { kind: 'merge', document: { spec: { serial: 's1' } } },
          part: 'main',
          preconditions: {},
        },
        {
          cause: { actor: 'test', verb: 'patch', requestId: 'r' },
          dryRun: false,
          fieldValidation: undefined,
          origin: 'client',
          subject: stage.as().subject,
        },
      ),
    );
  };
  shown(await stage.as().patch('widgets', 'a', { spec: { serial: 's2' } }));
  await stage.settle();
  t.ok(isLate);
  t.equal(await standing(stage, claim), 'ValueClaimed');
  t.equal(verdict(await create(stage, 'b', 's1')), 'unique-value-taken');
  t.equal(verdict(await create(stage, 'b', 's2')), 'ok');
});

test('an append that succeeds while its fence is decided keeps the value', async (t) => {
  const stage = await opened(t);
  const claim = await abandoned(stage, 'ghost');
  const leader = stage.lead(['claims']);
  let isLate = false;
  leader.before = async (what) => {
    if (isLate || what !== 'append') return;
    isLate = true;
    const outcome = await stage.access.execute(
      stage.access.type('widgets'),
      { type: 'create', object: serial('ghost', 's1') },
      {
        cause: { actor: 'test', verb: 'create', requestId: 'r' },
        dryRun: false,
        fieldValidation: undefined,
        origin: 'client',
        subject: stage.as().subject,
      },
    );
    t.equal(verdict(outcome), 'ok');
  };
  await stage.settle();
  await stage.pass(3 * claimPendingWaitMs, 100);
  t.ok(isLate);
  t.equal(await standing(stage, claim), 'ValueClaimed');
  t.same(await stage.history('widgets', 'ghost'), ['ObjectCreated']);
  t.equal(verdict(await create(stage, 'b', 's1')), 'unique-value-taken');
});

test('a scanned stream is not read again, with or without claims', async (t) => {
  const stage = await opened(t);
  const { log, models } = stage.access;
  const asked: { readonly after: bigint; readonly events: number }[] = [];
  const readAll = log.readAll.bind(log);
  log.readAll = async function* counted(options) {
    let events = 0;
    for await (const batch of readAll({ ...options, categories: undefined })) events += batch.length;
    asked.push({ after: options.after, events });
    yield* readAll(options);
  };
  stage.lead(['claims']);
  await stage.settle();
  const begun = models.position();
  // None of these claims anything.
  for (let change = 0; change < 5; change += 1)
    shown(await stage.as().patch('widgets', 'a', { spec: { title: `T${String(change)}` } }));
  const sweeps = 4;
  for (let sweep = 1; sweep < sweeps; sweep += 1) await stage.pass(claimSweepMs, 60_000);
  const [first, second, ...later] = asked.filter(({ events }) => events > 0);
  t.equal(first?.after, logStart);
  t.same(second, { after: begun, events: 5 }, 'not from the last claim, which lies further back');
  t.same(later, []);
  t.equal(asked.at(-1)?.after, models.position(), 'it is asked what came since');
  const claim = await abandoned(stage, 'ghost');
  await stage.pass(claimSweepMs + 3 * claimPendingWaitMs, 1_000);
  t.equal(await standing(stage, claim), 'ValueReleased', 'a later claim is found');
  t.same(stage.errors, []);
});
