/**
 * The faults that take the driver's process with them, in processes of their own. `STORM_SEED` and `STORM_RUNS` choose
 * the schedules of the property.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { test } from 'tap';

const seed = process.env['STORM_SEED'] ?? '20260405';
const runs = process.env['STORM_RUNS'] ?? '15';

async function outputOf(
  program: string,
  ...args: readonly string[]
): Promise<{ readonly out: string; readonly err: string; readonly code: unknown }> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
  const exited = once(child, 'exit');
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { out, err, code };
}

test("stray replies and another client's failure end neither the process nor an append", async (t) => {
  const { out, err, code } = await outputOf('eventstore-stray-child.js');
  t.equal(code, 0, err);
  const reports = new Map(
    out
      .trim()
      .split('\n')
      .map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]),
  );
  t.ok((reports.get('strays') ?? 0) > 0, 'there were stray errors');
  t.equal(reports.get('others'), 0, 'and no others');
  t.equal(reports.get('events'), 61);
  t.equal(reports.get('ids'), 61);
});

test(`through ${runs} storms each event is stored and seen once, in order (STORM_SEED=${seed})`, async (t) => {
  const { out, err, code } = await outputOf('eventstore-storm-child.js', seed, runs);
  t.equal(code, 0, err);
  t.comment(out.trim());
});
