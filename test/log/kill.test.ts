/**
 * Kills the log's process at random instants and checks the files that it left.
 *
 * SIGKILL takes away the process's memory, not the kernel's: unflushed writes survive it. So this proves
 * atomicity and that no answer runs ahead of its commit; that an acknowledged event survives the loss of power rests on
 * the order in which LMDB flushes (pages, fdatasync, then the page that makes them current) and on `overlappingSync:
 * false`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import fc from 'fast-check';
import t, { test } from 'tap';

import { must } from '../../src/base/unreachable.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { logStart } from '../../src/log/log.ts';
import type { EventLog, LogPosition, RecordedEvent } from '../../src/log/log.ts';

const seed = Number(process.env['KILL_SEED'] ?? 20_260_402);
const kills = Number(process.env['KILLS'] ?? 200);
/** Logs killed side by side: two cores are busy while a child starts. */
const lanes = 4;
const childPath = fileURLToPath(new URL('kill-child.js', import.meta.url));

/** When to kill: after so many acknowledgements, and then so many turns of this process's event loop. */
type Instant = { readonly acknowledgements: number; readonly turns: number };

const instants: fc.Arbitrary<Instant> = fc.record({
  acknowledgements: fc.oneof(fc.constant(0), fc.nat(20), fc.nat(400)),
  turns: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(5_000)),
});

type Acknowledged = { readonly revision: number; readonly position: bigint };

/** All that was ever acknowledged in one lane, and how far its log has been checked. */
type Lane = {
  readonly dir: string;
  readonly acknowledged: Map<string, Acknowledged>;
  readonly found: Map<string, Acknowledged>;
  readonly nextRevision: Map<string, number>;
  checked: LogPosition;
};

async function killOnce(lane: Lane, run: string, instant: Instant): Promise<void> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [childPath, lane.dir, run], {
    stdio: [...stdio],
    env: { PATH: process.env['PATH'] },
  });
  const out = must(child.stdout, 'stdout is a pipe');
  const ended = Promise.all([once(child, 'exit'), once(out, 'close')]);
  let output = '';
  let count = 0;
  const reached = new Promise<void>((resolve) => {
    out.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      count += chunk.split('\n').length - 1;
      if (count >= instant.acknowledgements) resolve();
    });
    if (instant.acknowledgements === 0) resolve();
  });
  await Promise.race([reached, ended]);
  for (let turn = 0; turn < instant.turns; turn += 1) await nextTurn();
  if (!child.kill('SIGKILL')) throw new Error('the child was gone before it could be killed');
  await ended;
  if (child.signalCode !== 'SIGKILL')
    throw new Error(`the child ended by itself with ${String(child.exitCode ?? child.signalCode)}`);
  // The last line may be cut by the kill: it is then no acknowledgement.
  for (const line of output.split('\n').slice(0, -1)) {
    const [name = '', revision = '', position = ''] = line.split(' ');
    lane.acknowledged.set(name, { revision: Number(revision), position: BigInt(position) });
  }
}

type Written = { readonly batch: string; readonly index: number; readonly size: number };

function decode(event: RecordedEvent): Written {
  const [batch = '', index, size] = Buffer.from(event.data).toString().split(' ');
  return { batch, index: Number(index), size: Number(size) };
}

/** Checks what the last run added: positions and every stream without holes, every batch whole and once. */
async function checkAdded(lane: Lane, log: EventLog): Promise<void> {
  let unfinished: Written | undefined;
  for await (const batch of log.readAll({ after: lane.checked })) {
    for (const event of batch) {
      checkPlace(lane, event);
      unfinished = checkBatch(lane, event, unfinished);
    }
  }
  if (unfinished !== undefined) throw new Error(`torn at the end: ${JSON.stringify(unfinished)}`);
  if (lane.checked !== (await log.head())) throw new Error('the head is not the last event');
}

function checkPlace(lane: Lane, event: RecordedEvent): void {
  if (event.position !== lane.checked + 1n) throw new Error(`a hole before position ${event.position.toString()}`);
  const expected = lane.nextRevision.get(event.stream) ?? 0;
  if (event.revision !== expected)
    throw new Error(`${event.stream}: revision ${event.revision.toString()} instead of ${expected.toString()}`);
  lane.nextRevision.set(event.stream, expected + 1);
  lane.checked = event.position;
}

/** @returns the batch's last event so far while more of it must follow. */
function checkBatch(lane: Lane, event: RecordedEvent, before: Written | undefined): Written | undefined {
  const written = decode(event);
  const follows =
    before === undefined ? written.index === 0 : written.batch === before.batch && written.index === before.index + 1;
  if (!follows) throw new Error(`torn: ${JSON.stringify([before, written])}`);
  if (written.index < written.size - 1) return written;
  if (lane.found.has(written.batch)) throw new Error(`twice in the log: ${written.batch}`);
  lane.found.set(written.batch, { revision: event.revision, position: event.position });
  return undefined;
}

/** Whatever was acknowledged, in this run or any before, stands where the answer said. */
function checkAcknowledged(lane: Lane): void {
  for (const [name, { revision, position }] of lane.acknowledged) {
    const found = lane.found.get(name);
    if (found?.revision !== revision || found.position !== position)
      throw new Error(`acknowledged and lost: ${name} at ${position.toString()}`);
  }
}

/** By stream too, as its index is a table of its own. */
async function checkStreams(lane: Lane, log: EventLog): Promise<void> {
  for await (const batch of log.readAll({ after: logStart })) {
    for (const event of batch) {
      const [byStream] = await log.readStream(event.stream, { from: event.revision, limit: 1 });
      if (byStream?.position !== event.position)
        throw new Error(`${event.stream} does not have revision ${event.revision.toString()}`);
    }
  }
  for (const [stream, next] of lane.nextRevision) {
    t.ok(next > 0, `${stream} ends at revision ${(next - 1).toString()}`);
  }
}

async function runLane(laneNumber: number, plan: readonly Instant[]): Promise<Lane> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-kill-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const lane: Lane = { dir, acknowledged: new Map(), found: new Map(), nextRevision: new Map(), checked: logStart };
  for (const [index, instant] of plan.entries()) {
    await killOnce(lane, `${laneNumber.toString()}.${index.toString()}`, instant);
    const log = await openLmdbLog({
      dir,
      onFatal: (error) => {
        throw error;
      },
    });
    await checkAdded(lane, log);
    checkAcknowledged(lane);
    if (index === plan.length - 1) await checkStreams(lane, log);
    await log.close();
  }
  return lane;
}

t.setTimeout(300_000);

test(`kills lose no acknowledged event, tear no batch and repeat none (KILL_SEED=${seed.toString()})`, async (t) => {
  const plan = fc.sample(instants, { seed, numRuns: kills });
  const done = await Promise.all(
    Array.from({ length: lanes }, (_, lane) =>
      runLane(
        lane,
        plan.filter((_, index) => index % lanes === lane),
      ),
    ),
  );
  const acknowledged = done.reduce((sum, lane) => sum + lane.acknowledged.size, 0);
  const found = done.reduce((sum, lane) => sum + lane.found.size, 0);
  t.comment(
    `${kills.toString()} kills, ${acknowledged.toString()} appends acknowledged, ${found.toString()} in the logs`,
  );
  t.ok(acknowledged > kills, 'the writers had got to work');
});
