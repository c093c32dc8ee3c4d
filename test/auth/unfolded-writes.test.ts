import { test, type Test } from 'tap';

import { freshnessWaitMs } from '../../src/limits/writes.ts';
import type { EventLog, LogState, RecordedEvent, SubscribeOptions } from '../../src/log/log.ts';
import { Accounts, until } from '../support/server/accounts.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';
import { basic, bearer, cookie } from './credentials.ts';

/** A node on which users are created, and one with a fold that the test holds and releases. */
async function twoNodes(t: Test) {
  const log = new MemoryLog();
  const here = await Accounts.open(t, { log });
  let release = (): void => undefined;
  const reads: string[] = [];
  let state: LogState = { reachable: true };
  let gate: Promise<void> | undefined;
  const stalled: EventLog = altered(log, {
    state: () => state,
    readLast: (stream) => {
      reads.push(stream);
      return log.readLast(stream);
    },
    subscribe: async function* held(options: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
      for await (const batch of log.subscribe(options)) {
        await gate;
        yield batch;
      }
    },
  });
  const clock = new FakeClock();
  const there = await Accounts.open(t, { log: stalled, clock });
  return {
    here,
    there,
    reads,
    clock,
    log,
    hold: () => {
      gate = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => {
      release();
      gate = undefined;
    },
    leave: () => {
      state = { reachable: false, reason: 'gone', sinceMs: 0 };
    },
    show: async (shown: { readonly authorization?: string; readonly cookie?: string }) =>
      there.authenticator.authenticate({ authorization: undefined, cookie: undefined, address: '1.2.3.4', ...shown }),
  };
}

/** Whether it is still waited for once everything that can happen at once has happened. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  for (let turn = 0; turn < 50; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  return !settled;
}

test('a token, a session, a user and a password made on another node a moment ago are not refused', async (t) => {
  const { here, there, show, hold, release } = await twoNodes(t);
  await here.create(here.users, 'old', { spec: { password: 'the old one' } });
  await until(() => there.permissions.user('old') !== undefined);
  hold();
  await here.create(here.users, 'jane', { spec: { password: 'a password' } });
  await here.merge(here.users, 'old', { spec: { password: 'the new one' } });
  const session = await here.create(here.sessions, 'log-in', {
    spec: { user: 'jane' },
    status: {
      userUid: here.permissions.user('jane')!.uid,
      passwordRevision: 0,
      expiresAt: new Date(here.clock.now() + 100_000).toISOString(),
    },
  });
  const token = (session['status'] as { readonly token: string }).token;
  const shown = [
    { authorization: basic('jane', 'a password') },
    { authorization: basic('old', 'the new one') },
    { cookie: cookie(token) },
  ];
  const answers = shown.map(async (one) => show(one));
  for (const answer of answers) t.ok(await isPending(answer));
  release();
  for (const answer of answers) t.match(await answer, { ok: true });
});

test('an unknown credential costs one read of the log, and none when the log is unavailable', async (t) => {
  const { here, there, reads, show, leave } = await twoNodes(t);
  await here.create(here.users, 'jane', { spec: { password: 'a password' } });
  await until(() => there.permissions.user('jane') !== undefined);
  const bogus = (prefix: string, digit: string) => `${prefix}_${digit.repeat(32)}_${'x'.repeat(43)}`;
  const bad = [
    { authorization: bearer(bogus('pat', 'a')) },
    { cookie: cookie(bogus('ses', 'b')) },
    { authorization: basic('jane', 'wrong') },
    { authorization: basic('nobody', 'wrong') },
  ];
  for (const [index, one] of bad.entries()) {
    reads.length = 0;
    t.match(await show(one), { ok: false, reason: 'unauthorized' }, String(index));
    t.equal(reads.length, 1, String(index));
  }
  reads.length = 0;
  leave();
  for (const one of bad.slice(0, 2))
    t.match(
      await show(one),
      { ok: false, reason: 'unavailable', retryAfterSeconds: 1 },
      'it may have been made elsewhere',
    );
  for (const one of bad.slice(2)) t.match(await show(one), { ok: false, reason: 'unauthorized' });
  t.match(await show({ authorization: basic('jane', 'a password') }), { ok: true });
  t.match(await show({ authorization: bearer('pat_nonsense') }), { ok: false, reason: 'unauthorized' });
  t.equal(reads.length, 0);
});

test('a credential that this node cannot check in time is unavailable, and an ended one is refused', async (t) => {
  const { here, clock, there, show, hold, release } = await twoNodes(t);
  await here.create(here.users, 'jane', { spec: { password: 'a password' } });
  await until(() => there.permissions.user('jane') !== undefined);
  hold();
  const status = {
    userUid: here.permissions.user('jane')!.uid,
    passwordRevision: 0,
    expiresAt: new Date(here.clock.now() + 100_000).toISOString(),
  };
  const made = await here.create(here.sessions, 'log-in', { spec: { user: 'jane' }, status });
  const token = (made['status'] as { readonly token: string }).token;
  const answer = show({ cookie: cookie(token) });
  t.ok(await isPending(answer));
  clock.advance(freshnessWaitMs);
  t.match(await answer, { ok: false, reason: 'unavailable' });
  release();
  t.match(await show({ cookie: cookie(token) }), { ok: true });
  await here.remove(here.sessions, 'log-in');
  await until(() => there.permissions.session((made.metadata as { readonly uid: string }).uid) === undefined);
  t.match(await show({ cookie: cookie(token) }), { ok: false, reason: 'unauthorized' });
});
