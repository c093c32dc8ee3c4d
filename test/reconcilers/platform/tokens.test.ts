/** Tokens report their expiry, and are deleted with their user: a new user of that name has none of them. */
import { test, type Test } from 'tap';

import type { Subject } from '../../../src/command/subject.ts';
import { token, user } from '../../support/access.ts';
import { shown } from '../../support/writing.ts';
import { AccountStage, type End } from './account-stage.ts';

const parts = ['tokens', 'bindings', 'collector'] as const;
const hour = 3_600_000;

async function opened(t: Test): Promise<AccountStage> {
  const stage = await AccountStage.open(t);
  await stage.given(user('ann'), user('ben'));
  const expiresAt = new Date(stage.access.clock.now() + hour).toISOString();
  for (const name of ['ann', 'ben']) {
    shown(await stage.access.as(name).create(token(`${name}s-hour`, { expiresAt })));
    shown(await stage.access.as(name).create(token(`${name}s`)));
  }
  return stage;
}

type Shown = { readonly status?: { readonly phase?: string } };
const phase = ({ access }: AccountStage, name: string): string | undefined =>
  (access.object('personalaccesstokens', name) as Shown | undefined)?.status?.phase;
const names = ({ access: { models }, access }: AccountStage): readonly string[] =>
  [...models.pages(access.type('personalaccesstokens').key, { selection: { labels: [], fields: [] }, sort: [] })]
    .flat()
    .sort();

test('a token is reported as expired after its time, and not before', async (t) => {
  const stage = await opened(t);
  stage.lead(parts);
  await stage.settle();
  await stage.pass(hour - 1_000);
  t.equal(phase(stage, 'anns-hour'), undefined);
  await stage.pass(2_000);
  t.same(
    ['anns-hour', 'bens-hour', 'anns'].map((name) => phase(stage, name)),
    ['expired', 'expired', undefined],
  );
  t.equal(names(stage).length, 4, 'it is kept for inspection');
  t.same(
    await stage.history('personalaccesstokens', 'anns-hour'),
    ['ObjectCreated', 'ObjectUpdated'],
    'and is reported once',
  );
});

test('a token changed during a step is checked again', async (t) => {
  const stage = await opened(t);
  const leader = stage.lead(parts);
  await stage.settle();
  let late = 0;
  let allowed = 1;
  leader.before = async (command) => {
    if (command === 'append' || !('name' in command) || !command.name.startsWith('anns') || late === allowed) return;
    late += 1;
    shown(
      await stage.access.execute(
        stage.access.type('personalaccesstokens'),
        {
          type: 'patch',
          name: command.name,
          patch: { kind: 'merge', document: { spec: { description: `used ${String(late)}` } } },
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
  await stage.pass(hour + 1_000);
  t.equal(late, 1);
  t.equal(phase(stage, 'anns-hour'), 'expired');
  allowed = 2;
  shown(await stage.as().delete('users', 'ann'));
  await stage.settle();
  t.equal(late, 2);
  t.same(names(stage), ['bens', 'bens-hour']);
});

test('after a stop before or after any of its writes the next leader completes the work', async (t) => {
  for (const end of Array.from({ length: 8 }, (_, index): End => ({
    atWrite: 1 + (index >> 1),
    isMade: index % 2 === 1,
  }))) {
    const stage = await opened(t);
    stage.lead(parts, end);
    shown(await stage.as().delete('users', 'ann'));
    await stage.settle();
    await stage.stopAll();
    stage.access.clock.advance(2 * hour);
    stage.lead(parts);
    await stage.settle();
    const about = `write ${String(end.atWrite)} ${end.isMade ? '' : 'not '}made`;
    t.same(names(stage), ['bens', 'bens-hour'], about);
    t.equal(phase(stage, 'bens-hour'), 'expired', about);
    t.equal(stage.access.object('users', 'ann'), undefined, about);
    t.same(stage.errors, [], about);
  }
});

test('two leaders complete it once', async (t) => {
  const stage = await opened(t);
  for (let leaders = 0; leaders < 2; leaders += 1) stage.lead(parts);
  await stage.pass(hour + 1_000);
  shown(await stage.as().delete('users', 'ann'));
  await stage.settle();
  t.same(await stage.history('personalaccesstokens', 'anns-hour'), [
    'ObjectCreated',
    'ObjectUpdated',
    'ObjectDeletionRequested',
    'ObjectDeleted',
  ]);
  t.same(names(stage), ['bens', 'bens-hour']);
  t.same(stage.errors, []);
});

test("a user created again has none of the old one's tokens, and keeps their own", async (t) => {
  for (const isLed of [false, true]) {
    const stage = await opened(t);
    const leader = stage.lead(parts);
    await stage.settle();
    leader.lead.give(isLed);
    shown(await stage.as().delete('users', 'ann'));
    if (isLed) await stage.settle();
    else shown(await stage.as().collect('users', 'ann'));
    await stage.given(user('ann'));
    shown(await stage.access.as('ann').create(token('new')));
    leader.lead.give(true);
    await stage.settle();
    t.same(names(stage), ['bens', 'bens-hour', 'new'], isLed ? 'looked at as it happens' : 'looked at later');
  }
});

test('a disabled or renamed user, or a new password, keeps the tokens; tokens of no user remain', async (t) => {
  const stage = await opened(t);
  stage.lead(parts);
  const ghost: Subject = { kind: 'user', name: 'ghost', credential: { kind: 'password', uid: 'never' } };
  shown(
    await stage
      .as()
      .patch('users', 'ann', { spec: { disabled: true, displayName: 'Ann B.', password: 'correct horse' } }),
  );
  await stage.given(token('platforms', { owner: 'nobody' }));
  await stage.settle();
  t.same(names(stage), ['anns', 'anns-hour', 'bens', 'bens-hour', 'platforms']);
  shown(await stage.access.as(ghost).create(token('ghosts')));
  await stage.settle();
  t.notOk(names(stage).includes('ghosts'), 'made as the user went');
});
