/**
 * A copy that is killed, or has lost, unanswered and late appends, is called again until it is complete: after any
 * faults the target equals the source, event by event. `COPY_SEED` and `COPY_RUNS` replay and lengthen it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import fc from 'fast-check';
import { test } from 'tap';

import { readFounding } from '../../src/log/founded-log.ts';
import type { AppendOutcome, EventLog } from '../../src/log/log.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';
import { comparable, copiedOf, runCopy, writeSource, type Written } from './source-log.ts';

const seed = Number(process.env['COPY_SEED'] ?? 20_261_121);
const numRuns = Number(process.env['COPY_RUNS'] ?? 300);

const stream = fc.constantFrom(
  'object:widgets/a',
  'object:widgets/b',
  'claim:widgets/x',
  'secret:u',
  'guard:g',
  'type:widgets',
  'platform:level',
  'lease:reconcilers',
);
const history: fc.Arbitrary<readonly Written[]> = fc.array(fc.record({ stream, bytes: fc.nat(60) }), {
  maxLength: 80,
  size: 'max',
});

/**
 * The fate of a connection: from one append on, everything until all answers are in is lost (`lost`), or is appended
 * without an answer (`unanswered`); or the copy is killed there, and its pending appends arrive later (`killed`, in
 * their order).
 */
type Fault = { readonly at: number; readonly kind: 'lost' | 'unanswered' | 'killed'; readonly landing: number };
const fault: fc.Arbitrary<Fault> = fc.record({
  at: fc.oneof(fc.nat(3), fc.nat(40)),
  kind: fc.constantFrom('lost', 'unanswered', 'killed'),
  landing: fc.nat(10),
});

const noAnswer: AppendOutcome = { ok: false, reason: 'unknown', cause: new Error('no answer came') };

/** The target as one call of the copy sees it, with the faults still to come; true once it was killed. */
class FaultyTarget {
  readonly #server: EventLog;
  readonly #faults: Fault[];
  readonly ending = new AbortController();
  /** The appends that were pending when the copy was killed. */
  readonly late: (() => Promise<unknown>)[] = [];
  #calls = 0;
  #underway = 0;
  #broken: Fault | undefined;

  constructor(server: EventLog, faults: Fault[]) {
    this.#server = server;
    this.#faults = faults;
  }

  readonly open = async (): Promise<EventLog> => {
    const log = this.#server;
    return altered(log, {
      // The server stays, and pending appends still arrive.
      close: async () => undefined,
      append: async (...call) => {
        // The connection is a new one once all that was lost with the old one is answered.
        if (this.#underway === 0 && this.#broken?.kind !== 'killed') this.#broken = undefined;
        this.#calls += 1;
        if (this.#broken === undefined && this.#faults[0] !== undefined && this.#calls > this.#faults[0].at) {
          this.#broken = this.#faults.shift();
          this.#calls = 0;
          if (this.#broken?.kind === 'killed') this.ending.abort(new Error('killed'));
        }
        if (this.#broken?.kind === 'killed') {
          this.late.push(async () => log.append(...call));
          return new Promise<AppendOutcome>(() => undefined);
        }
        this.#underway += 1;
        try {
          if (this.#broken?.kind !== 'lost') {
            const outcome = await log.append(...call);
            return this.#broken === undefined ? outcome : noAnswer;
          }
          await nextTurn();
          return noAnswer;
        } finally {
          this.#underway -= 1;
        }
      },
    });
  };
}

/** One call of the copy; false when it was killed. */
async function callOnce(source: EventLog, target: FaultyTarget, inFlightMax: number): Promise<boolean> {
  const clock = new FakeClock();
  const killed = new Promise<'killed'>((resolve) => {
    target.ending.signal.addEventListener('abort', () => {
      resolve('killed');
    });
  });
  const running = runCopy(source, target.open, { inFlightMax, clock, signal: target.ending.signal });
  running.catch(() => undefined);
  const end = { isOver: false };
  void Promise.race([killed, running])
    .catch(() => undefined)
    .finally(() => {
      end.isOver = true;
    });
  while (!end.isOver) {
    clock.advance(100);
    await nextTurn();
  }
  if ((await Promise.race([killed, running])) !== 'killed') return true;
  return false;
}

test('a copy that is killed and resumed at any point is whole, once, and in order', async (t) => {
  let kills = 0;
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fault, { maxLength: 6 }),
      fc.integer({ min: 1, max: 12 }),
      async (written, faults, inFlightMax) => {
        const source = new MemoryLog();
        const events = await writeSource(source, written);
        const server = new MemoryLog();
        const rest = [...faults];
        let landing: Promise<void> = Promise.resolve();
        for (;;) {
          const [next] = rest;
          const target = new FaultyTarget(server, rest);
          if (await callOnce(source, target, inFlightMax)) break;
          kills += 1;
          // Some of the pending appends arrive, in their order, while the next call already runs.
          const after = landing;
          landing = (async () => {
            await after;
            for (let turn = 0; turn < (next?.landing ?? 0); turn += 1) await nextTurn();
            for (const land of target.late.slice(0, (next?.landing ?? 0) + 1)) await land();
          })();
        }
        await landing;
        t.strictSame(comparable(await copiedOf(server)), comparable(events));
        const founding = await readFounding(server);
        if (founding?.finished !== true || founding.copied !== events.length) throw new Error('it was not finished');
      },
    ),
    { seed, numRuns },
  );
  t.ok(kills > numRuns / 3 || numRuns < 50, `${kills.toString()} kills`);
});
