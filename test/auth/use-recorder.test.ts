import { test, type Test } from 'tap';

import { createUseRecorder } from '../../src/auth/authentication/use-recorder.ts';
import { tokenUseRecordMs } from '../../src/limits/access.ts';
import type { WriteOutcome } from '../../src/command/command.ts';
import { Accounts, until } from '../support/server/accounts.ts';

async function given(t: Test, fault: () => WriteOutcome | undefined = () => undefined) {
  const accounts = await Accounts.open(t);
  const { users, tokens, clock } = accounts;
  await accounts.create(users, 'jane', { spec: { password: 'correct horse' } });
  const made = await accounts.create(tokens, 'mine', {
    spec: { owner: 'jane' },
    status: { ownerUid: accounts.permissions.user('jane')?.uid ?? '' },
  });
  const errors: unknown[] = [];
  const note = createUseRecorder({
    execute: async (...write) => fault() ?? accounts.execute(...write),
    reader: accounts.models,
    type: tokens,
    part: 'tokens',
    intervalMs: tokenUseRecordMs,
    clock,
    uuid: () => 'r',
    onError: (error) => {
      errors.push(error);
    },
  });
  const lastUsed = (): unknown =>
    (accounts.object(tokens, 'mine')?.['status'] as Record<string, unknown> | undefined)?.['lastUsedAt'];
  return { accounts, clock, errors, lastUsed, made, note };
}

test('a use is recorded in the status, and nothing else changes', async (t) => {
  const { accounts, clock, errors, lastUsed, made, note } = await given(t);
  note('mine');
  await until(() => lastUsed() !== undefined);
  t.equal(lastUsed(), new Date(clock.now()).toISOString());
  const { status: _status, metadata: _metadata, ...rest } = accounts.object(accounts.tokens, 'mine')!;
  t.match(made, rest);
  t.equal(accounts.permissions.token(made.metadata.uid)?.ownerUid, accounts.permissions.user('jane')?.uid);
  t.notOk(JSON.stringify(accounts.object(accounts.tokens, 'mine')).includes('pat_'));
  clock.advance(tokenUseRecordMs - 1);
  note('mine');
  clock.advance(1);
  note('mine');
  await until(() => lastUsed() === new Date(clock.now()).toISOString());
  t.equal(accounts.object(accounts.tokens, 'mine')?.metadata.version, 2, 'once a minute');
  t.strictSame(errors, []);
});

test('a deleted token and a failed write are ignored', async (t) => {
  const { errors, note } = await given(t, () => ({
    ok: false,
    rejection: { reason: 'unavailable', detail: 'down', retryAfterSeconds: 1 },
  }));
  note('gone');
  note('mine');
  await until(() => errors.length > 0);
  t.match(errors, [{ message: 'down' }]);
});
