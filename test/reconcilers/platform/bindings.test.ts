/** A new user with the name of a deleted one inherits nothing, for any interruption of the deletion. */
import { test, type Test } from 'tap';

import { bindingsPerStepMax } from '../../../reconcilers/platform/platform-limits.ts';
import { binding, role, rule, user } from '../../support/access.ts';
import { shown } from '../../support/writing.ts';
import { AccountStage, type End } from './account-stage.ts';

const parts = ['bindings', 'collector'] as const;

async function opened(t: Test): Promise<AccountStage> {
  const stage = await AccountStage.open(t);
  await stage.given(
    role('reader', [rule('get', 'posts')]),
    role('writer', [rule('update', 'posts')]),
    user('ann'),
    user('ben'),
  );
  await stage.given(
    binding('anns', 'reader', 'ann'),
    binding('shared', 'writer', 'ann', 'oidc:ann', 'ben'),
    binding('bens', 'reader', 'ben'),
    binding('early', 'reader', 'cid'),
  );
  return stage;
}

const subjects = ({ access }: AccountStage, name: string): readonly string[] | undefined =>
  (
    access.object('rolebindings', name) as { readonly subjects?: readonly { readonly name: string }[] } | undefined
  )?.subjects?.map((subject) => subject.name);

function check(t: Test, stage: AccountStage, about: string): void {
  t.equal(stage.access.object('users', 'ann'), undefined, `${about}: the name is free`);
  t.same(
    {
      anns: subjects(stage, 'anns'),
      shared: subjects(stage, 'shared'),
      bens: subjects(stage, 'bens'),
      early: subjects(stage, 'early'),
    },
    { anns: undefined, shared: ['oidc:ann', 'ben'], bens: ['ben'], early: ['cid'] },
    about,
  );
  t.same(stage.errors, [], about);
}

test('a deleted user is removed from every binding first, and then the name is free', async (t) => {
  const stage = await opened(t);
  stage.lead(parts);
  await stage.settle();
  t.same(subjects(stage, 'anns'), ['ann'], 'an existing user is left alone');
  shown(await stage.as().delete('users', 'ann'));
  await stage.settle();
  check(t, stage, 'in the end');
  const order = (await stage.access.recorded()).map(
    ({ type, stream }) => `${type} ${stream.slice(stream.indexOf('/') + 1)}`,
  );
  const freed = order.indexOf('ObjectDeleted ann');
  for (const before of ['ObjectDeletionRequested anns', 'ObjectUpdated shared'])
    t.ok(order.indexOf(before) !== -1 && order.indexOf(before) < freed, `${before} before the name was free`);
});

test('after a stop before or after any of its writes the next leader completes the work', async (t) => {
  for (const end of Array.from({ length: 6 }, (_, index): End => ({
    atWrite: 1 + (index >> 1),
    isMade: index % 2 === 1,
  }))) {
    const stage = await opened(t);
    stage.lead(parts, end);
    shown(await stage.as().delete('users', 'ann'));
    await stage.settle();
    await stage.stopAll();
    stage.lead(parts);
    await stage.settle();
    check(t, stage, `write ${String(end.atWrite)} ${end.isMade ? '' : 'not '}made`);
  }
});

test('two leaders complete it once', async (t) => {
  const stage = await opened(t);
  for (let leaders = 0; leaders < 2; leaders += 1) stage.lead(parts);
  shown(await stage.as().delete('users', 'ann'));
  await stage.settle();
  check(t, stage, 'two leaders');
  t.same(await stage.history('rolebindings', 'anns'), ['ObjectCreated', 'ObjectDeletionRequested', 'ObjectDeleted']);
  t.same(await stage.history('rolebindings', 'shared'), ['ObjectCreated', 'ObjectUpdated']);
});

test('a user bound during the removal of a binding keeps it', async (t) => {
  const stage = await opened(t);
  const leader = stage.lead(parts);
  let isLate = false;
  leader.before = async (command) => {
    if (isLate || command === 'append' || command.type !== 'delete') return;
    isLate = true;
    shown(
      await stage.access.execute(
        stage.access.type('rolebindings'),
        {
          type: 'patch',
          name: 'anns',
          patch: {
            kind: 'merge',
            document: {
              subjects: [
                { kind: 'User', name: 'ann' },
                { kind: 'User', name: 'ben' },
              ],
            },
          },
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
  shown(await stage.as().delete('users', 'ann'));
  await stage.settle();
  t.ok(isLate, 'the step was decided on an older state');
  t.same(subjects(stage, 'anns'), ['ben']);
  t.equal(stage.access.object('users', 'ann'), undefined);
});

test("a binding written before the deletion is the old user's, one written after it is the new one's", async (t) => {
  const stage = await opened(t);
  shown(await stage.as().delete('users', 'ann'));
  await stage.given(binding('meanwhile', 'writer', 'ann'));
  stage.lead(parts);
  await stage.settle();
  t.equal(stage.access.object('rolebindings', 'meanwhile'), undefined);
  await stage.given(binding('after', 'reader', 'ann'), user('ann'));
  await stage.settle();
  t.same([...stage.access.permissions.boundRoles('ann')], ['reader']);
  await stage.stopAll();
  stage.lead(parts);
  await stage.settle();
  t.same([...stage.access.permissions.boundRoles('ann')], ['reader'], 'a start does not take it for a remnant');
});

test('a user with more bindings than one step handles is removed from all of them', async (t) => {
  const stage = await opened(t);
  const count = 2 * bindingsPerStepMax + 1;
  const names = Array.from({ length: count }, (_, index) => `more-${String(index)}`);
  await stage.given(...names.map((name) => binding(name, 'reader', 'ann')));
  stage.lead(parts);
  shown(await stage.as().delete('users', 'ann'));
  await stage.settle();
  check(t, stage, 'in the end');
  t.same(
    names.filter((name) => stage.access.object('rolebindings', name) !== undefined),
    [],
  );
});

test('a user created again at once, before any step, inherits nothing', async (t) => {
  const stage = await opened(t);
  shown(await stage.as().delete('users', 'ann'));
  // Somebody takes the finalizer away by hand, and is faster than any leader.
  shown(await stage.as().collect('users', 'ann'));
  await stage.given(user('ann'), binding('newly', 'reader', 'ann'));
  stage.lead(parts);
  await stage.settle();
  t.same([...stage.access.permissions.boundRoles('ann')], ['reader'], "but the new one's binding stays");
  t.same(
    { anns: subjects(stage, 'anns'), shared: subjects(stage, 'shared'), newly: subjects(stage, 'newly') },
    { anns: undefined, shared: ['oidc:ann', 'ben'], newly: ['ann'] },
  );
  t.same(stage.errors, []);
});

test('a user created again under a running leader inherits nothing either, and early bindings stay', async (t) => {
  const stage = await opened(t);
  const leader = stage.lead(parts);
  await stage.settle();
  leader.lead.give(false);
  shown(await stage.as().delete('users', 'ann'));
  shown(await stage.as().collect('users', 'ann'));
  leader.lead.give(true);
  await stage.given(user('ann'), user('cid'));
  await stage.settle();
  t.same([...stage.access.permissions.boundRoles('ann')], []);
  t.same([...stage.access.permissions.boundRoles('cid')], ['reader'], 'bound before there ever was such a user');
});
