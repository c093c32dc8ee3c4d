import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { alwaysLeading, LeaseElector } from '../../reconcilers/lease.ts';
import type { LeaseEvent } from '../../src/command/event.ts';
import { leaseLookMs, leaseMs, leaseReleaseMs, leaseRenewMs } from '../../src/limits/reconcilers.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { streamName, type AppendOutcome, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import type { Clock } from '../../src/base/clock.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

const stream = streamName('lease:reconcilers');
const runs = Number(process.env['PBT_RUNS'] ?? 150);
const seed = process.env['PBT_SEED'];

type LeaseLog = Pick<EventLog, 'append' | 'readLast'>;

/** Whatever becomes of it takes a few turns of the event loop. */
async function turns(count = 6): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

async function pass(clock: FakeClock, ms: number, stepMs = 100): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    await turns();
  }
}

let ids = 0;

function elector(
  node: string,
  log: LeaseLog,
  clock: Clock,
  onError: (error: unknown) => void = (error) => {
    throw error;
  },
): LeaseElector {
  return new LeaseElector({
    log,
    clock,
    node,
    uuid: () => {
      ids += 1;
      return idOf(`lease ${String(ids)}`);
    },
    onError,
  });
}

async function events(log: MemoryLog): Promise<readonly LeaseEvent[]> {
  const recorded: readonly RecordedEvent[] = await log.readStream(stream, { from: 0 as never, limit: 10_000 });
  return recorded.map((event) => decodeEvent(event).event as LeaseEvent);
}

/** A log that can be cut off, and that forgets to answer. */
class Gate implements LeaseLog {
  readonly #log: MemoryLog;
  reachable = true;
  /** Appends that land without being acknowledged. */
  unacknowledged = 0;
  appends: string[] = [];

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  async append(...call: Parameters<EventLog['append']>): Promise<AppendOutcome> {
    this.appends.push(call[1][0]!.id);
    if (!this.reachable) return { ok: false, reason: 'unavailable', cause: new Error('cut off') };
    const outcome = await this.#log.append(...call);
    if (this.unacknowledged === 0) return outcome;
    this.unacknowledged -= 1;
    return { ok: false, reason: 'unknown', cause: new Error('no answer came') };
  }

  async readLast(of: typeof stream): Promise<RecordedEvent | undefined> {
    if (!this.reachable) throw new Error('cut off');
    return this.#log.readLast(of);
  }
}

test('the only node of a log always leads', async (t) => {
  t.ok(alwaysLeading.isLeader());
  alwaysLeading.subscribe(() => {
    throw new Error('it never changes');
  })();
});

test('a free lease is taken at once and renewed before it runs out', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  const one = elector('one', log, clock);
  const notified: boolean[] = [];
  one.subscribe((leads) => {
    notified.push(leads);
  });
  t.notOk(one.isLeader());
  one.start();
  await turns();
  t.ok(one.isLeader());
  await pass(clock, 4 * leaseMs);
  t.ok(one.isLeader());
  t.strictSame(notified, [true]);
  const held = await events(log);
  t.equal(held.length, 1 + Math.floor((4 * leaseMs) / leaseRenewMs));
  t.strictSame(held[0], { type: 'LeaseHeld', holder: 'one', leaseMs });
  await stopped(one, clock);
});

async function stopped(one: LeaseElector, clock: FakeClock): Promise<void> {
  const end = one.stop();
  await pass(clock, leaseReleaseMs);
  await end;
}

test('a clean stop releases the lease, and another node takes it at its next check', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  const [one, two] = [elector('one', log, clock), elector('two', log, clock)];
  one.start();
  await turns();
  two.start();
  await pass(clock, leaseRenewMs);
  t.ok(one.isLeader());
  t.notOk(two.isLeader());
  await one.stop();
  t.notOk(one.isLeader());
  t.strictSame((await events(log)).at(-1), { type: 'LeaseReleased', holder: 'one' });
  await pass(clock, leaseLookMs);
  t.ok(two.isLeader());
  await stopped(two, clock);
});

test('the successor of a dead node waits one whole lease time, and no longer than two', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  const gate = new Gate(log);
  const [one, two] = [elector('one', gate, clock), elector('two', log, clock)];
  one.start();
  await turns();
  two.start();
  await pass(clock, leaseRenewMs);
  gate.reachable = false;
  await pass(clock, leaseMs - 100);
  t.notOk(two.isLeader(), 'not before the lease has run out');
  await pass(clock, leaseMs);
  t.ok(two.isLeader());
  t.notOk(one.isLeader());
  gate.reachable = true;
  await pass(clock, leaseMs);
  t.notOk(one.isLeader(), 'a returning node waits like any other');
  t.ok(two.isLeader());
  t.equal((await events(log)).at(-1)?.holder, 'two');
  await Promise.all([stopped(one, clock), stopped(two, clock)]);
});

test('an append of unknown outcome is sent again unchanged, and its time counts from the first attempt', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  const gate = new Gate(log);
  gate.unacknowledged = 3;
  const one = elector('one', gate, clock);
  one.start();
  await pass(clock, 4 * leaseLookMs);
  t.ok(one.isLeader());
  t.equal(new Set(gate.appends).size, 1);
  t.equal((await events(log)).length, 1);
  gate.unacknowledged = Math.ceil((2 * leaseMs) / leaseLookMs);
  await pass(clock, leaseMs - 4 * leaseLookMs + 200);
  t.notOk(one.isLeader(), 'one lease time after the last that was acknowledged was sent');
  await pass(clock, 2 * leaseMs);
  t.ok(one.isLeader());
  await stopped(one, clock);
});

test('an unavailable log ends the lease only: it is taken again when the log answers', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  const gate = new Gate(log);
  gate.reachable = false;
  const one = elector('one', gate, clock);
  const notified: boolean[] = [];
  one.subscribe((leads) => {
    notified.push(leads);
  });
  one.start();
  await pass(clock, leaseMs);
  gate.reachable = true;
  await pass(clock, leaseLookMs);
  gate.reachable = false;
  await pass(clock, 2 * leaseMs);
  gate.reachable = true;
  await pass(clock, leaseMs + leaseRenewMs);
  t.strictSame(notified, [true, false, true]);
  gate.reachable = false;
  const end = one.stop();
  await pass(clock, leaseReleaseMs);
  await end;
  t.strictSame(notified, [true, false, true, false]);
  gate.reachable = true;
  const before = gate.appends.length;
  await pass(clock, leaseMs);
  t.equal(gate.appends.length, before, 'once stopped it asks for nothing');
});

test('a pause without a timer is reported once the node resumes', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  // As after a standstill, when the answer to a renewal comes before any timer is looked at.
  const standing: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms, task) => (ms > leaseRenewMs ? { cancel: () => undefined } : clock.after(ms, task)),
  };
  let answer = (): void => undefined;
  let isSlow = false;
  const one = elector(
    'one',
    {
      readLast: async (of) => log.readLast(of),
      append: async (...call) => {
        if (isSlow)
          await new Promise<void>((go) => {
            answer = go;
          });
        return log.append(...call);
      },
    },
    standing,
  );
  const notified: boolean[] = [];
  one.subscribe((leads) => {
    notified.push(leads);
  });
  one.start();
  await turns();
  isSlow = true;
  await pass(clock, leaseMs);
  t.notOk(one.isLeader());
  t.strictSame(notified, [true]);
  isSlow = false;
  answer();
  await turns();
  t.ok(one.isLeader());
  t.strictSame(notified, [true, false, true]);
  await stopped(one, clock);
});

test('a foreign event in the lease stream is reported, and nobody leads by it', async (t) => {
  const log = new MemoryLog();
  await log.append(
    stream,
    [{ id: idOf('odd'), type: 'TokenIssued', data: Buffer.from('{"digest":"x"}'), metadata: Buffer.from('{}') }],
    'absent',
  );
  const errors: unknown[] = [];
  const one = elector('one', log, new FakeClock(), (error) => {
    errors.push(error);
  });
  one.start();
  await turns();
  t.notOk(one.isLeader());
  t.match(errors, [{ message: /contains a TokenIssued event/u }]);
  await one.stop();
});

/**
 * Several electors over one log with late, lost and unanswered calls; nodes pause for up to a minute, stop,
 * die and start again. Their clocks run at the same rate; a node that stands still sees its clock jump when it goes on.
 */
type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | {
      readonly kind: 'fault';
      readonly node: number;
      readonly fault: 'lost' | 'unacknowledged' | 'late' | 'slow' | 'cut';
      readonly calls: number;
    }
  | { readonly kind: 'pause'; readonly node: number; readonly ms: number }
  | { readonly kind: 'stop' | 'kill' | 'start'; readonly node: number };

const nodes = 3;
const node = fc.nat(nodes - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 50, max: 20_000 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      node,
      fault: fc.constantFrom(
        'lost' as const,
        'unacknowledged' as const,
        'late' as const,
        'slow' as const,
        'cut' as const,
      ),
      calls: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pause' as const), node, ms: fc.integer({ min: 1_000, max: 60_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('stop' as const, 'kill' as const, 'start' as const), node }),
  },
);

test('two nodes never believe to lead at once, and after the faults one does', async (t) => {
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const world = new World();
      for (const step of steps) await world.take(step);
      await world.heal();
      changes += world.changes;
      await world.close();
    }),
    { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
  t.ok(changes > 2 * runs, `${String(changes)} changes of leaders in ${String(runs)} runs`);
});

/** One node: its actions are held back during a pause. */
class Member {
  readonly name: string;
  elector: LeaseElector | undefined;
  fault: 'lost' | 'unacknowledged' | 'late' | 'slow' | 'cut' = 'cut';
  faults = 0;
  pausedMs = 0;
  #held: (() => void)[] = [];
  readonly #world: World;
  #starts = 0;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
  }

  start(): void {
    if (this.elector !== undefined) return;
    this.#starts += 1;
    const alive = { is: true };
    // What a dead process hears is heard by nobody.
    const untilRead = async (): Promise<void> =>
      new Promise((go) => {
        this.#hold(() => {
          if (alive.is) go();
        });
      });
    const log: LeaseLog = {
      append: async (...call) => {
        const fault = this.#nextFault();
        if (fault === 'late') {
          await this.#world.later(3_000);
          if (!alive.is && this.faults % 2 === 0)
            return { ok: false, reason: 'unknown', cause: 'it died with its node' };
        }
        const outcome: AppendOutcome =
          fault === 'cut' || fault === 'lost'
            ? { ok: false, reason: fault === 'cut' ? 'unavailable' : 'unknown', cause: fault }
            : await this.#world.log.append(...call);
        if (fault === 'slow') await this.#world.later(9_000);
        await untilRead();
        return fault === 'unacknowledged' ? { ok: false, reason: 'unknown', cause: fault } : outcome;
      },
      readLast: async (of) => {
        const fault = this.#nextFault();
        if (fault === 'late') await this.#world.later(3_000);
        const last = await this.#world.log.readLast(of);
        if (fault === 'slow') await this.#world.later(9_000);
        await untilRead();
        if (fault === 'cut' || fault === 'lost') throw new Error(fault);
        return last;
      },
    };
    const clock: Clock = {
      now: () => this.#world.clock.now(),
      monotonic: () => this.#world.clock.monotonic(),
      after: (ms, task) =>
        this.#world.clock.after(ms, () => {
          this.#hold(() => {
            if (alive.is) task();
          });
        }),
    };
    this.elector = elector(`${this.name}.${String(this.#starts)}`, log, clock);
    this.elector.subscribe(() => {
      this.#world.changes += 1;
    });
    this.#kill = () => {
      alive.is = false;
    };
    this.elector.start();
  }

  #kill: () => void = () => undefined;

  kill(): void {
    this.#kill();
    this.elector = undefined;
    this.#held = [];
  }

  go(): void {
    for (const held of this.#held.splice(0)) held();
  }

  #hold(task: () => void): void {
    if (this.pausedMs > 0) this.#held.push(task);
    else task();
  }

  #nextFault(): Member['fault'] | undefined {
    if (this.faults === 0) return undefined;
    this.faults -= 1;
    return this.fault;
  }
}

class World {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly members: readonly Member[] = Array.from(
    { length: nodes },
    (_, index) => new Member(`n${String(index)}`, this),
  );
  changes = 0;

  constructor() {
    for (const member of this.members) member.start();
  }

  async later(ms: number): Promise<void> {
    await new Promise<void>((done) => {
      this.clock.after(ms, done);
    });
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'pass') {
      await this.pass(step.ms);
      return;
    }
    const member = this.members[step.node]!;
    switch (step.kind) {
      case 'fault':
        Object.assign(member, { fault: step.fault, faults: step.calls });
        break;
      case 'pause':
        member.pausedMs = Math.max(member.pausedMs, step.ms);
        break;
      case 'start':
        member.start();
        break;
      case 'kill':
        member.kill();
        break;
      case 'stop': {
        if (member.pausedMs > 0 || member.elector === undefined) break;
        const ended = member.elector.stop();
        await this.pass(leaseReleaseMs + 4_000);
        if (member.pausedMs === 0) await ended;
        member.kill();
        break;
      }
    }
    await turns(2);
    this.#check();
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 250) {
      const stepMs = Math.min(250, left);
      this.clock.advance(stepMs);
      for (const member of this.members) {
        if (member.pausedMs === 0) continue;
        member.pausedMs = Math.max(0, member.pausedMs - stepMs);
        // It goes on wherever it stood: it looks at its clock before it believes anything.
        if (member.pausedMs === 0) member.go();
      }
      for (let turn = 0; turn < 4; turn += 1) {
        await nextTurn();
        this.#check();
      }
    }
  }

  async heal(): Promise<void> {
    for (const member of this.members) {
      member.faults = 0;
      member.pausedMs = 0;
      member.go();
      member.start();
    }
    await this.pass(2 * leaseMs + 8_000);
    if (this.members.filter(({ elector: one }) => one?.isLeader() === true).length !== 1)
      throw new Error('nobody leads although nothing is amiss');
  }

  async close(): Promise<void> {
    for (const member of this.members) member.kill();
    await this.log.close();
  }

  #check(): void {
    // One that stands still believes nothing: it is asked when it goes on.
    const leading = this.members.filter((member) => member.pausedMs === 0 && member.elector?.isLeader() === true);
    if (leading.length > 1)
      throw new Error(
        `${leading.map(({ name }) => name).join(' and ')} both lead at ${String(this.clock.monotonic())} ms`,
      );
  }
}
