import { setImmediate as nextTurn } from 'node:timers/promises';

import { test } from 'tap';

import { DiskReserve } from '../../src/disk/disk-reserve.ts';
import type { DiskSpace } from '../../src/disk/disk-space.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

const mebibyte = 1_048_576;

/** A disk of 1 GiB with a reserve of 64 MiB; `readSpace` returns the values of the test. */
function given(
  freeMebibytes: number,
  setting: { readonly reserveBytes: number | undefined } = { reserveBytes: 64 * mebibyte },
) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const totalBytes = 1_024 * mebibyte;
  const disk = { answer: async (): Promise<DiskSpace> => Promise.resolve({ freeBytes: 0, totalBytes }) };
  const say = (message: string): void => {
    lines.push(message);
  };
  const log = { info: say, warn: say };
  const options = { dir: '/data', ...setting, clock, log, readSpace: async () => disk.answer() };
  const reserve = new DiskReserve({ freeBytes: freeMebibytes * mebibyte, totalBytes }, options);
  const check = async (answer: () => Promise<DiskSpace>): Promise<void> => {
    disk.answer = answer;
    clock.advance(1_000);
    await nextTurn();
  };
  const free = async (mebibytes: number): Promise<void> =>
    check(async () => Promise.resolve({ freeBytes: mebibytes * mebibyte, totalBytes }));
  return { reserve, lines, clock, check, free };
}

test('the reserve is the smaller of 5 % and 1 GiB, or what the setting says', (t) => {
  t.equal(given(1_000, { reserveBytes: undefined }).reserve.reserveBytes, 53_687_091, '5 % of 1 GiB');
  const log = { info: () => undefined, warn: () => undefined };
  const options = { dir: '/data', reserveBytes: undefined, clock: new FakeClock(), log };
  t.equal(new DiskReserve({ freeBytes: 2 ** 40, totalBytes: 2 ** 40 }, options).reserveBytes, 2 ** 30);
  t.equal(given(1_000, { reserveBytes: 7 }).reserve.reserveBytes, 7);
  t.end();
});

test('exactly the reserve free is enough, a byte less is not, and either is reported once', async (t) => {
  const { reserve, lines, free } = given(64);
  t.notOk(reserve.isShort());
  await free(64 - 1 / mebibyte);
  t.ok(reserve.isShort());
  await free(10);
  t.match(lines, [/nearly full/u]);
  await free(68 - 1 / mebibyte);
  t.ok(reserve.isShort(), 'a sixteenth of the reserve must be free above it');
  await free(68);
  t.notOk(reserve.isShort());
  await free(500);
  t.match(lines, [/nearly full/u, /enough free space again/u]);
  t.equal(lines.length, 2);
});

test('bytes written between two checks count until the check after the next', async (t) => {
  const { reserve, free } = given(100);
  for (let write = 0; write < 17; write += 1) reserve.take(mebibyte);
  t.notOk(reserve.isShort(), '34 of 36 MiB');
  reserve.take(mebibyte);
  t.ok(reserve.isShort(), 'without a check');
  await free(100);
  t.ok(reserve.isShort(), 'it may not have reached the disk before the check');
  await free(100);
  t.notOk(reserve.isShort());
});

test('log-ins stop at half of the reserve, and a reserve of 0 stops nothing', async (t) => {
  const { reserve, free } = given(32);
  t.ok(reserve.isShort());
  t.notOk(reserve.isScarce());
  await free(31);
  t.ok(reserve.isScarce());
  const off = given(0, { reserveBytes: 0 }).reserve;
  off.take(mebibyte);
  t.notOk(off.isScarce());
  t.ok(off.claim(mebibyte));
});

test('a reserve of 0 is off however little is free', (t) => {
  const { reserve, lines } = given(0, { reserveBytes: 0 });
  for (let write = 0; write < 100; write += 1) reserve.take(mebibyte);
  t.notOk(reserve.isShort());
  t.same(lines, []);
  t.end();
});

test('a large piece is taken whole above the reserve or not at all', (t) => {
  const { reserve } = given(164);
  t.notOk(reserve.claim(100 * mebibyte + 1));
  t.ok(reserve.claim(60 * mebibyte));
  t.notOk(reserve.claim(41 * mebibyte), 'claimed bytes count');
  t.ok(reserve.claim(40 * mebibyte));
  t.notOk(reserve.isShort());
  t.end();
});

test('a failed check is reported once, and written bytes keep counting', async (t) => {
  const { reserve, lines, check, free } = given(100);
  const fail = async (): Promise<DiskSpace> => Promise.reject(new Error('EIO'));
  for (let turn = 0; turn < 3; turn += 1) {
    reserve.take(5 * mebibyte);
    await check(fail);
  }
  t.match(lines, [/cannot read the free space of DATA_DIR/u]);
  t.equal(lines.length, 1);
  reserve.take(5 * mebibyte);
  t.ok(reserve.isShort());
  await free(200);
  await free(200);
  t.notOk(reserve.isShort());
});

test('after a stop it checks no more', async (t) => {
  const { reserve, clock, free } = given(100);
  reserve.stop();
  await free(1);
  t.equal(clock.timers, 0);
  t.notOk(reserve.isShort());
});
