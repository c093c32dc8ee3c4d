import { test, type Test } from 'tap';

import { ReconcileSlots } from '../../reconcilers/reconcile-slots.ts';
import { alwaysLeading } from '../../reconcilers/lease.ts';
import { SessionKeeper } from '../../reconcilers/platform/sessions.ts';
import { sessionLifetimeMs } from '../../src/limits/access.ts';
import { sessionSweepMsMax } from '../../src/limits/reconcilers.ts';
import type { WriteOutcome } from '../../src/command/command.ts';
import { Accounts, until } from '../support/server/accounts.ts';

type Options = { readonly fault?: () => WriteOutcome | Error | undefined };

async function given(t: Test, { fault = () => undefined }: Options = {}) {
  const accounts = await Accounts.open(t);
  const { users, sessions, clock } = accounts;
  for (const name of ['jane', 'john']) await accounts.create(users, name, { spec: { password: 'correct horse' } });
  const logIn = async (user: string, name: string, lifetimeMs = sessionLifetimeMs): Promise<void> => {
    const record = accounts.permissions.user(user)!;
    await accounts.create(sessions, name, {
      spec: { user },
      status: {
        userUid: record.uid,
        passwordRevision: record.passwordRevision ?? 0,
        expiresAt: new Date(clock.now() + lifetimeMs).toISOString(),
      },
    });
  };
  const errors: unknown[] = [];
  const keep = (): SessionKeeper => {
    const keeper = new SessionKeeper({
      changes: accounts.models,
      reader: accounts.models,
      permissions: accounts.permissions,
      sessions,
      bound: new ReconcileSlots(clock),
      leadership: alwaysLeading,
      clock,
      uuid: () => 'r',
      onError: (error) => {
        errors.push(error);
      },
      execute: async (type, command, context) => {
        const failure = fault();
        if (failure instanceof Error) throw failure;
        return failure ?? accounts.execute(type, command, context);
      },
    });
    t.teardown(() => keeper.stop());
    keeper.open();
    return keeper;
  };
  const live = () =>
    accounts
      .names(sessions)
      .filter((name) => accounts.object(sessions, name)?.metadata.deletionTimestamp === undefined);
  return { accounts, clock, errors, keep, live, logIn };
}

const same = (names: readonly string[], ...expected: readonly string[]) =>
  names.length === expected.length && expected.every((name) => names.includes(name));

test('sessions of a user that is disabled, deleted or has a new password are deleted, and no others', async (t) => {
  const { accounts, keep, live, logIn } = await given(t);
  keep();
  for (const [change, end] of [
    ['disabled', async () => accounts.merge(accounts.users, 'jane', { spec: { disabled: true } })],
    [
      'enabled again, another password',
      async () => accounts.merge(accounts.users, 'jane', { spec: { disabled: false, password: 'another one' } }),
    ],
    ['deleted', async () => accounts.remove(accounts.users, 'jane')],
  ] as const) {
    await logIn('john', 'stays');
    if (change !== 'enabled again, another password') {
      await logIn('jane', 'ends1');
      await logIn('jane', 'ends2');
    }
    await end();
    await until(() => same(live(), 'stays'));
    t.pass(change);
    for (const name of accounts.names(accounts.sessions)) {
      const {
        metadata: { uid },
      } = accounts.object(accounts.sessions, name)!;
      await accounts.remove(accounts.sessions, name);
      await accounts.write(accounts.sessions, { type: 'collect', name, uid });
    }
  }
});

test('a session created during the deletion of its user is deleted, too', async (t) => {
  const { accounts, keep, live, logIn } = await given(t);
  keep();
  await accounts.merge(accounts.users, 'jane', { spec: { disabled: true } });
  await logIn('jane', 'late');
  await logIn('john', 'stays');
  await until(() => same(live(), 'stays'));
  t.pass('it does not wait for its day to end');
});

test('expired sessions are deleted on time, in any order of expiry', async (t) => {
  const { clock, keep, live, logIn } = await given(t);
  keep();
  await logIn('jane', 'short', 5_000);
  await logIn('jane', 'middle', 10_000);
  await logIn('jane', 'long', 4 * sessionSweepMsMax);
  t.equal(clock.timers, 1, 'one timer for all');
  clock.advance(4_999);
  t.ok(same(live(), 'short', 'middle', 'long'));
  clock.advance(1);
  await until(() => same(live(), 'middle', 'long'));
  clock.advance(5_000);
  await until(() => same(live(), 'long'));
  clock.jump(5 * sessionSweepMsMax);
  clock.advance(sessionSweepMsMax);
  await until(() => live().length === 0);
  await until(() => {
    clock.advance(sessionSweepMsMax);
    return clock.timers === 0;
  });
  t.pass('and nothing waits for nothing');
});

test('its start checks every session', async (t) => {
  const { accounts, clock, keep, live, logIn } = await given(t);
  await logIn('jane', 'outdated');
  await logIn('john', 'expired', 1_000);
  await logIn('john', 'good');
  await accounts.create(accounts.sessions, 'malformed', { spec: { user: 'john' } });
  await accounts.merge(accounts.users, 'jane', { spec: { password: 'another one' } });
  clock.advance(1_000);
  keep();
  await until(() => same(live(), 'good'));
  t.pass();
});

test('a failure is logged and retried', async (t) => {
  const failures: (WriteOutcome | Error)[] = [
    new Error('thrown'),
    { ok: false, rejection: { reason: 'unavailable', detail: 'down', retryAfterSeconds: 1 } },
  ];
  const { accounts, clock, errors, keep, live, logIn } = await given(t, { fault: () => failures.shift() });
  keep();
  await logIn('jane', 'ends');
  await accounts.merge(accounts.users, 'jane', { spec: { disabled: true } });
  await until(() => {
    clock.advance(10);
    return live().length === 0;
  });
  t.match(errors, [{ message: 'thrown' }, { message: 'down' }]);
});

test('once stopped it does nothing more', async (t) => {
  const { accounts, clock, keep, live, logIn } = await given(t);
  const keeper = keep();
  await logIn('jane', 'stays', 1_000);
  await keeper.stop();
  clock.advance(sessionSweepMsMax);
  await accounts.merge(accounts.users, 'jane', { spec: { disabled: true } });
  t.strictSame(live(), ['stays']);
  t.equal(clock.timers, 0);
});
