/** A role's status lists missing roles that it names, for any leader and any interruption. */
import { test, type Test } from 'tap';

import { missingRoleGraceMs } from '../../../reconcilers/platform/platform-limits.ts';
import { role } from '../../support/access.ts';
import { shown } from '../../support/writing.ts';
import { AccountStage, type End } from './account-stage.ts';

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly message: string;
  readonly lastTransitionTime: string;
};

const complete = ({ access }: AccountStage, name = 'needy'): Condition | undefined =>
  (
    access.object('roles', name) as { readonly status?: { readonly conditions?: readonly Condition[] } } | undefined
  )?.status?.conditions?.find(({ type }) => type === 'Complete');

async function opened(t: Test): Promise<AccountStage> {
  const stage = await AccountStage.open(t);
  await stage.given(
    role('needy', [], { dependencies: ['one', 'two'], aggregateTo: ['sum'] }),
    role('content', [], { dependencies: ['needy'] }),
  );
  return stage;
}

test('a missing role is reported after a while, a new one at once, and an existing one never', async (t) => {
  const stage = await opened(t);
  stage.lead(['role-health', 'collector']);
  await stage.settle();
  t.equal(complete(stage), undefined, 'files of roles are applied in any order');
  await stage.pass(missingRoleGraceMs + 100);
  t.match(complete(stage), {
    status: 'False',
    message: 'depends on a role that does not exist: "one", "two"; is aggregated to a role that does not exist: "sum"',
  });
  const since = complete(stage)!.lastTransitionTime;
  await stage.given(role('one'));
  await stage.settle();
  t.match(complete(stage), {
    status: 'False',
    message: 'depends on a role that does not exist: "two"; is aggregated to a role that does not exist: "sum"',
    lastTransitionTime: since,
  });
  await stage.given(role('two'), role('sum'));
  await stage.settle();
  t.equal(complete(stage)!.status, 'True');
  shown(await stage.as().patch('roles', 'two', { metadata: { finalizers: ['example.com/hold'] } }));
  shown(await stage.as().delete('roles', 'two'));
  await stage.pass(missingRoleGraceMs + 100);
  t.match(
    complete(stage),
    { status: 'False', message: 'depends on a role that does not exist: "two"' },
    'one that is marked counts no more',
  );
  shown(await stage.as().patch('roles', 'two', { metadata: { finalizers: null } }));
  await stage.settle();
  await stage.given(role('two'));
  await stage.settle();
  t.equal(complete(stage)!.status, 'True', 'made anew it is as good');
  t.equal(complete(stage, 'content'), undefined);
  t.same(await stage.history('roles', 'content'), ['ObjectCreated']);
  t.same(stage.errors, []);
});

test('after a stop around its write the next leader reports the same, and two leaders report it once', async (t) => {
  const ends: readonly (End | undefined)[] = [{ atWrite: 1, isMade: false }, { atWrite: 1, isMade: true }, undefined];
  for (const end of ends) {
    const stage = await opened(t);
    stage.lead(['role-health'], end);
    if (end === undefined) stage.lead(['role-health']);
    await stage.settle();
    await stage.pass(missingRoleGraceMs + 100);
    await stage.stopAll();
    await stage.given(role('one'), role('two'));
    for (let leaders = 0; leaders < 2; leaders += 1) stage.lead(['role-health']);
    await stage.settle();
    await stage.pass(missingRoleGraceMs + 100);
    t.match(complete(stage), { status: 'False', message: 'is aggregated to a role that does not exist: "sum"' });
    await stage.given(role('sum'));
    await stage.settle();
    t.equal(complete(stage)!.status, 'True');
    t.equal((await stage.history('roles', 'needy')).length, end?.isMade === false ? 3 : 4);
    t.same(stage.errors, []);
  }
});

test('a role changed during the step is reported in its new state, and no change is lost', async (t) => {
  const stage = await opened(t);
  const leader = stage.lead(['role-health']);
  let isLate = false;
  leader.before = async () => {
    if (isLate) return;
    isLate = true;
    shown(
      await stage.access.execute(
        stage.access.type('roles'),
        {
          type: 'replace',
          name: 'needy',
          object: role('needy', [], { dependencies: ['three'] }),
          part: 'main',
          preconditions: {},
        },
        {
          cause: { actor: 'test', verb: 'update', requestId: 'r' },
          dryRun: false,
          fieldValidation: undefined,
          origin: 'client',
          subject: stage.as().subject,
        },
      ),
    );
  };
  await stage.pass(2 * missingRoleGraceMs, 100);
  t.ok(isLate);
  t.match(complete(stage), { status: 'False', message: 'depends on a role that does not exist: "three"' });
  leader.lead.give(false);
  shown(await stage.as().delete('roles', 'needy'));
  await stage.given(role('needy'));
  leader.lead.give(true);
  await stage.pass(2 * missingRoleGraceMs, 100);
  t.equal(complete(stage), undefined, 'a new one of the name has nothing of it');
});
