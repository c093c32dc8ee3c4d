import { test } from 'tap';

import { Passwords } from '../../src/auth/passwords/password.ts';
import { Secrets } from '../../src/auth/authentication/secrets.ts';
import { digestOf, uidOfToken } from '../../src/auth/authentication/token-text.ts';
import { writeAttemptsMax } from '../../src/limits/writes.ts';
import { logStart, streamName, type EventLog } from '../../src/log/log.ts';
import { FoldedSecrets } from '../support/memory/folded-secrets.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';
import { CountingPasswords, metadata } from './credentials.ts';

const uid = idOf('somebody');
const stream = streamName(`secret:${uid}`);

function over(log: EventLog, clock = new FakeClock()): Secrets {
  const folded = new FoldedSecrets();
  return new Secrets({ log: folded.through(log), clock, folded, passwords: new CountingPasswords() });
}

async function everything(log: EventLog): Promise<string> {
  const texts: string[] = [];
  for await (const batch of log.readAll({ after: logStart }))
    for (const { data, metadata: about } of batch)
      texts.push(Buffer.from(data).toString(), Buffer.from(about).toString());
  return texts.join('\n');
}

test('a password is stored as a hash, at a revision of its own that never changes', async (t) => {
  const log = new MemoryLog();
  const secrets = over(log);
  const passwords = new Passwords();
  const first = await secrets.keep({ kind: 'password', text: 'first one' }, { uid, metadata });
  const second = await secrets.keep({ kind: 'password', text: 'second one' }, { uid, metadata });
  t.strictSame(
    [first, second],
    [
      { ok: true, kept: { revision: 0 } },
      { ok: true, kept: { revision: 1 } },
    ],
  );
  t.equal(await passwords.verify('first one', secrets.passwordHash(uid, 0)), true);
  t.equal(await passwords.verify('second one', secrets.passwordHash(uid, 1)), true);
  t.equal(secrets.passwordHash(uid, 2), undefined);
  t.equal(secrets.passwordHash(idOf('nobody'), 0), undefined);
  t.notMatch(await everything(log), /first one|second one/u);
});

test('a token is drawn, shown once and stored as a digest', async (t) => {
  const log = new MemoryLog();
  const secrets = over(log);
  for (const prefix of ['pat', 'ses'] as const) {
    const id = idOf(prefix);
    const kept = await secrets.keep({ kind: 'token', prefix }, { uid: id, metadata });
    const token = kept.ok ? (kept.kept.token ?? '') : '';
    t.match(token, new RegExp(`^${prefix}_${id.replaceAll('-', '')}_[A-Za-z0-9_-]{43}$`, 'u'));
    t.equal(uidOfToken(token, prefix), id);
    t.equal(uidOfToken(token, prefix === 'pat' ? 'ses' : 'pat'), undefined);
    t.equal(secrets.tokenDigest(id), digestOf(token));
    t.equal(await secrets.issuedDigest(id), digestOf(token), 'in the log, too');
    t.notOk((await everything(log)).includes(token));
    t.equal(secrets.passwordHash(id, 0), undefined, 'a digest is no password');
  }
  await secrets.keep({ kind: 'password', text: 'x' }, { uid, metadata });
  t.equal(secrets.tokenDigest(uid), undefined, 'a hash is no token');
  t.equal(secrets.tokenDigest(idOf('nobody')), undefined);
  t.equal(await secrets.issuedDigest(uid), undefined);
  t.equal(await secrets.issuedDigest(idOf('nobody')), undefined);
});

test('of many at once each has its own revision', async (t) => {
  const log = new MemoryLog();
  const secrets = over(log);
  const kept = await Promise.all(
    Array.from({ length: 8 }, (_, index) => secrets.keep({ kind: 'password', text: String(index) }, { uid, metadata })),
  );
  t.strictSame(
    new Set(kept.map((outcome) => (outcome.ok ? outcome.kept.revision : -1))),
    new Set([0, 1, 2, 3, 4, 5, 6, 7]),
  );
});

test('an append of unknown outcome is sent again as the same event, and is stored once', async (t) => {
  const inner = new MemoryLog();
  const ids: string[] = [];
  const clock = new FakeClock();
  const log = altered(inner, {
    append: async (name, events, expected) => {
      ids.push(events[0]?.id ?? '');
      const outcome = await inner.append(name, events, expected);
      if (ids.length > 2) return outcome;
      process.nextTick(() => {
        clock.advance(250);
      });
      return { ok: false, reason: 'unknown', cause: new Error('the line went dead') };
    },
  });
  t.strictSame(await over(log, clock).keep({ kind: 'password', text: 'x' }, { uid, metadata }), {
    ok: true,
    kept: { revision: 0 },
  });
  t.equal(ids.length, 3);
  t.equal(new Set(ids).size, 1);
  t.equal((await inner.readStream(stream, { from: 0 as never, limit: 10 })).length, 1);
});

test('a failed append is reported', async (t) => {
  const closed = new MemoryLog();
  await closed.close();
  t.strictSame(await over(closed).keep({ kind: 'token', prefix: 'pat' }, { uid, metadata }), { ok: false });
  let appends = 0;
  const losing = altered(new MemoryLog(), {
    append: async () => {
      appends += 1;
      return Promise.resolve({ ok: false, reason: 'conflict', actual: 'absent' });
    },
  });
  t.strictSame(await over(losing).keep({ kind: 'token', prefix: 'pat' }, { uid, metadata }), { ok: false });
  t.equal(appends, writeAttemptsMax);
});
