import { test } from 'tap';

import { unrecorded } from '../../../src/auth/access-events/access-recorder.ts';
import { RefusalLog } from '../../../src/http/refusal-log.ts';
import { refusalLinesMax, refusalLinesMs } from '../../../src/limits/access.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

function given() {
  const clock = new FakeClock();
  const lines: { readonly message: string; readonly fields: unknown }[] = [];
  const log = {
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => {
      lines.push({ message, fields });
    },
  };
  const refusals = new RefusalLog({ log, clock, isUser: (name) => name === 'jane', accesses: unrecorded });
  const refused = (username: string | undefined, place = 0) => ({
    requestId: String(place),
    address: '192.0.2.1',
    reason: 'no',
    username,
  });
  return { clock, lines, refusals, refused };
}

test('only names of existing users are logged', async (t) => {
  const { lines, refusals, refused } = given();
  for (const username of ['jane', 'Sup3rSecret!', '\n{"level":60}', undefined]) refusals.logInFailed(refused(username));
  refusals.forbidden(refused('jane'));
  const fields = { requestId: '0', address: '192.0.2.1', reason: 'no' };
  t.strictSame(lines, [
    { message: 'a log-in failed', fields: { ...fields, user: 'jane' } },
    { message: 'a log-in failed', fields: { ...fields, user: null } },
    { message: 'a log-in failed', fields: { ...fields, user: null } },
    { message: 'a log-in failed', fields },
    { message: 'a request was refused', fields: { ...fields, user: 'jane' } },
  ]);
});

test('lines in a minute are bounded, and the omitted ones are counted at its end', async (t) => {
  const { clock, lines, refusals, refused } = given();
  for (let index = 0; index < refusalLinesMax; index += 1) refusals.logInFailed(refused('jane', index));
  t.equal(lines.length, refusalLinesMax);
  clock.advance(refusalLinesMs);
  t.equal(lines.length, refusalLinesMax, 'nothing was left out');
  for (let index = 0; index < refusalLinesMax + 3; index += 1) refusals.forbidden(refused('jane', index));
  t.equal(lines.length, refusalLinesMax * 2);
  clock.advance(refusalLinesMs);
  t.strictSame(lines.slice(refusalLinesMax * 2), [
    { message: 'some failed log-ins and refused requests have no log line', fields: { count: 3 } },
  ]);
  refusals.logInFailed(refused('jane'));
  t.equal(lines.length, refusalLinesMax * 2 + 2);
});

test('no window of a minute has more lines, wherever it begins', (t) => {
  const { clock, lines, refusals, refused } = given();
  const times: number[] = [];
  for (let second = 0; second < 200; second += 1) {
    for (let index = 0; index < 7; index += 1) {
      const before = lines.length;
      refusals.logInFailed(refused('jane', index));
      if (lines.length > before) times.push(clock.monotonic());
    }
    clock.advance(1_000);
  }
  const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + refusalLinesMs).length));
  t.equal(most, refusalLinesMax);
  const counts = lines.filter(({ message }) => message.startsWith('some failed log-ins'));
  t.equal(counts.length, 3, 'omitted lines are counted once a minute');
  t.end();
});
