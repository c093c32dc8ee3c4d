import { test } from 'tap';

import type { Command, WriteContext, WriteOutcome } from '../../src/command/command.ts';
import { visitor, type Subject } from '../../src/command/subject.ts';
import { writesInFlightMax, writesWaitingPerObjectMax } from '../../src/limits/writes.ts';
import type { EventLog } from '../../src/log/log.ts';
import { writeRates } from '../../src/write/admission/writer.ts';
import { body, create, jsonPatch, merge, remove, widgets } from '../support/given.ts';
import { altered, tally, verdict, Writing } from '../support/writing.ts';

const userOf = (name: string): Subject => ({ kind: 'user', name, credential: { kind: 'password', uid: name } });
const [alice, bob, root] = [userOf('alice'), userOf('bob'), userOf('root')];
const named = (place: number | string): Command => create(body({ metadata: { name: `w${String(place)}` } }));

type By = Partial<WriteContext> & { readonly address?: string };

/** No time passes while it is executed. */
async function by(
  writing: Writing,
  subject: Subject,
  command: Command,
  { address, ...more }: By = {},
): Promise<WriteOutcome> {
  const cause = { actor: 'test', verb: 'write', requestId: 'r', ...(address === undefined ? {} : { address }) };
  return writing.execute(widgets, command, {
    cause,
    dryRun: false,
    fieldValidation: undefined,
    origin: 'client',
    subject,
    ...more,
  });
}

/** Until one is refused. */
async function exhaust(write: (place: number) => Promise<WriteOutcome>, most: number): Promise<number> {
  for (let index = 0; index < most; index += 1) if (verdict(await write(index)) === 'too-many-requests') return index;
  return most;
}

test("a user's writes are bounded over all credentials; others and super administrators are unaffected", async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(3, 0) });
  const token: Subject = {
    kind: 'user',
    name: 'alice',
    credential: { kind: 'token', uid: 't', userUid: 'alice', name: 't', roles: [] },
  };
  const session: Subject = { kind: 'user', name: 'alice', credential: { kind: 'session', uid: 's', userUid: 'alice' } };
  const shown = [alice, token, session];
  t.equal(await exhaust(async (place) => by(writing, shown[place % 3]!, named(place)), 100), 30);
  for (const subject of shown) {
    t.match(await by(writing, subject, named('x')), {
      rejection: { reason: 'too-many-requests', retryAfterSeconds: 1, detail: /3 writes per second/u },
    });
  }
  t.equal(verdict(await by(writing, bob, named('bob'))), 'ok');
  t.equal(await exhaust(async (place) => by(writing, root, named(`root${String(place)}`)), 100), 100);
  t.equal(verdict(await by(writing, { kind: 'plugin', name: 'p' }, named('plugin'))), 'ok');
  t.equal(
    verdict(await by(writing, { kind: 'plugin', name: 'p' }, named('called'), { chargedTo: alice })),
    'too-many-requests',
    'a plugin writes for its caller',
  );
  writing.clock.advance(1_000);
  t.equal(await exhaust(async (place) => by(writing, alice, named(`later${String(place)}`)), 100), 3);
});

test('refused writes, no-ops and dry runs count as writes and cost no bytes', async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(1, 100) });
  t.equal(verdict(await by(writing, root, create(body()))), 'ok');
  const free: readonly [Command, By, string][] = [
    [merge({}), {}, 'ok'],
    [named('dry'), { dryRun: true }, 'ok'],
    [create({}), {}, 'invalid'],
    [create(body()), {}, 'already-exists'],
    [remove({}, 'none'), {}, 'not-found'],
  ];
  for (const [command, more, expected] of free) t.equal(verdict(await by(writing, alice, command, more)), expected);
  t.equal(verdict(await by(writing, alice, named('big'))), 'ok', 'the bytes of a burst are there');
  t.equal(await exhaust(async () => by(writing, alice, merge({})), 100), 4, 'six of ten writes were counted');
});

test('bytes are those of the object after the change, not of the request', async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(0, 100_000) });
  t.equal(
    verdict(
      await by(writing, root, create(body({ metadata: { name: 'w1', annotations: { text: 'x'.repeat(200_000) } } }))),
    ),
    'ok',
  );
  const touch = (place: number): Command =>
    jsonPatch([{ op: 'add', path: '/metadata/labels', value: { n: String(place) } }]);
  t.equal(await exhaust(async (place) => by(writing, alice, touch(place)), 100), 4, '4 × 200 kB within 1 MB');
  const refused = await by(writing, alice, touch(5));
  t.match(refused, { rejection: { reason: 'too-many-requests', retryAfterSeconds: 1, detail: /100000 bytes/u } });
  t.equal((await writing.recorded('w1')).length, 5, 'nothing was appended');
  t.equal(verdict(await by(writing, alice, remove())), 'too-many-requests', 'a deletion carries the object, too');
  t.equal(verdict(await by(writing, bob, touch(6))), 'ok');
});

test('concurrent writes have the same limit as successive ones', async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(0, 100_000) });
  const large = (place: number): Command =>
    create(body({ metadata: { name: `w${String(place)}`, annotations: { text: 'x'.repeat(200_000) } } }));
  const outcomes = await Promise.all(Array.from({ length: 20 }, async (_, index) => by(writing, alice, large(index))));
  t.strictSame(tally(outcomes), { ok: 4, 'too-many-requests': 16 });
});

test('visitors are distinguished by address, and those of one IPv6 network are one', async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(1, 0) });
  const from = (address: string) => async (place: number) =>
    by(writing, visitor, named(`${address.replaceAll(/[^0-9]/gu, 'x')}-${String(place)}`), { address });
  t.equal(await exhaust(from('192.0.2.1'), 100), 10);
  t.equal(await exhaust(from('192.0.2.2'), 100), 10);
  t.equal(await exhaust(from('2001:db8::1'), 5), 5);
  t.equal(await exhaust(from('2001:db8::ffff:2'), 100), 5);
  t.equal(await exhaust(from('2001:db8:0:1::2'), 100), 10);
});

test("one user's own tokens, sessions and profile have limits of their own", async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(0, 0) });
  t.equal(await exhaust(async (place) => by(writing, alice, named(place), { isOwn: true }), 200), 100);
  t.match(await by(writing, alice, named('x'), { isOwn: true }), {
    rejection: { detail: /10 writes of the user's own/u, retryAfterSeconds: 1 },
  });
  t.equal(verdict(await by(writing, alice, named('other'))), 'ok', 'all else is not concerned');
  t.equal(await exhaust(async (place) => by(writing, root, named(`root${String(place)}`), { isOwn: true }), 200), 200);
  const large = (place: number): Command =>
    create(body({ metadata: { name: `large${String(place)}`, annotations: { text: 'x'.repeat(200_000) } } }));
  t.equal(await exhaust(async (place) => by(writing, bob, large(place), { isOwn: true }), 100), 52, '10 MiB');
});

test('follow-up writes of an admitted request are charged and not refused', async (t) => {
  const writing = await Writing.open(t, { rates: writeRates(1, 1_000) });
  const large = create(body({ metadata: { name: 'w1', annotations: { text: 'x'.repeat(20_000) } } }));
  t.equal(verdict(await by(writing, alice, named('first'), { admitted: 'whole' })), 'ok');
  t.equal(verdict(await by(writing, alice, large, { admitted: 'whole' })), 'ok');
  t.match(await by(writing, alice, named('next'), { admitted: 'counted' }), {
    rejection: { reason: 'too-many-requests', retryAfterSeconds: 12 },
  });
});

/** A log that takes nothing until it is opened. */
function stalled(): { readonly through: (log: EventLog) => EventLog; open: () => void } {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    through: (log) => altered(log, { append: async (...call) => gate.then(async () => log.append(...call)) }),
    open,
  };
}

test('no user fills the slots of writes in flight: later users and super administrators find theirs', async (t) => {
  const { through, open } = stalled();
  const writing = await Writing.open(t, { rates: writeRates(0, 0), through });
  const many = (subject: Subject, count: number): Promise<WriteOutcome>[] =>
    Array.from({ length: count }, async (_, index) =>
      by(writing, subject, named(`${subject.kind === 'user' ? subject.name : ''}${String(index)}`)),
    );
  const waiting = [
    many(alice, writesInFlightMax),
    many(bob, 100),
    many(userOf('carol'), writesInFlightMax),
    many(root, writesInFlightMax),
  ];
  t.equal(verdict(await by(writing, root, named('one-more'))), 'too-many-requests', 'the bound is theirs, too');
  t.equal(verdict(await by(writing, alice, named('one-more'))), 'too-many-requests');
  const late = by(writing, userOf('dave'), named('late'));
  open();
  t.equal(verdict(await late), 'ok');
  const [ofAlice, ofBob, ofCarol, ofRoot] = await Promise.all(
    waiting.map(async (writes) => tally(await Promise.all(writes))),
  );
  t.strictSame(ofAlice, { ok: writesInFlightMax / 2, 'too-many-requests': writesInFlightMax / 2 });
  t.strictSame(ofBob, { ok: 100 });
  t.strictSame(ofCarol?.['ok'], (writesInFlightMax / 2 - 100) / 2);
  t.strictSame(ofRoot, { ok: writesInFlightMax });
  t.equal(verdict(await by(writing, alice, named('after'))), 'ok', 'places come back');
  t.equal(writing.held.sum, 0);
});

test('the bytes of writes in flight are bounded in sum, and no user takes all of them', async (t) => {
  const { through, open } = stalled();
  const writing = await Writing.open(t, { rates: writeRates(0, 0), through });
  const large = (name: string): Command =>
    create(body({ metadata: { name, annotations: { text: 'x'.repeat(250_000) } } }));
  const waiting = Array.from({ length: 400 }, async (_, index) => by(writing, alice, large(`a${String(index)}`)));
  const others = ['bob', 'carol', 'dave', 'root'].map(async (name) => by(writing, userOf(name), large(name)));
  t.ok(writing.held.sum <= 268_435_456 && writing.held.sum > 128_000_000, `${String(writing.held.sum)} bytes are held`);
  open();
  t.strictSame(tally(await Promise.all(others)), { ok: 4 });
  const counted = tally(await Promise.all(waiting));
  t.strictSame(
    counted,
    { ok: 179, 'too-many-requests': 221 },
    'three times a quarter of a megabyte each, in half of 256 MiB',
  );
  t.equal(writing.held.sum, 0);
});

test('writes that wait for one object are served in turn by user, and no user takes every slot', async (t) => {
  const { through, open } = stalled();
  const writing = await Writing.open(t, { rates: writeRates(0, 0), through });
  const first = by(writing, root, create(body()));
  const order: string[] = [];
  const label = async (subject: Subject & { readonly kind: 'user' }, place: number): Promise<WriteOutcome> => {
    const outcome = await by(
      writing,
      subject,
      merge({ metadata: { labels: { [`${subject.name}${String(place)}`]: 'x' } } }),
    );
    if (outcome.ok) order.push(subject.name);
    return outcome;
  };
  open();
  await first;
  const [ofAlice, ofBob] = [userOf('alice'), userOf('bob')].map((subject) => ({
    ...subject,
    kind: 'user' as const,
  })) as [Subject & { kind: 'user' }, Subject & { kind: 'user' }];
  const waiting = Array.from({ length: writesWaitingPerObjectMax }, async (_, index) => label(ofAlice, index % 200));
  const late = [label(ofBob, 0), label(ofBob, 1)];
  t.strictSame(tally(await Promise.all(late)), { ok: 2 });
  t.ok(order.length < 10, `${String(order.length)} writes were done by then`);
  t.strictSame(tally(await Promise.all(waiting)), {
    ok: writesWaitingPerObjectMax / 2 + 1,
    'too-many-requests': writesWaitingPerObjectMax / 2 - 1,
  });
});
