import { setImmediate as nextTurn } from 'node:timers/promises';

import fc from 'fast-check';

import { logStart, streamName, streamRevision } from '../../src/log/log.ts';
import type { EventLog, LogPosition, RecordedEvent, StreamName, SubscribeOptions } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { appended, batchOf, collect, proposed } from '../support/memory/log-events.ts';
import type { Clauses } from './log-contract.ts';

const seed = Number(process.env['PBT_SEED'] ?? 20_260_401);
const numRuns = Number(process.env['PBT_RUNS'] ?? 40);

const categories = ['object', 'claim'] as const;

type AppendStep = { readonly kind: 'append'; readonly stream: number; readonly size: number; readonly wait: boolean };
type SubscribeStep = {
  readonly kind: 'subscribe';
  readonly after: number;
  readonly category: string | undefined;
  readonly pauses: number;
};
type Step = AppendStep | SubscribeStep | { readonly kind: 'turn' };

const appendStep: fc.Arbitrary<AppendStep> = fc.record({
  kind: fc.constant('append'),
  stream: fc.nat(3),
  size: fc.integer({ min: 1, max: 5 }),
  wait: fc.boolean(),
});
/** `after` is the place between the start and the head. */
const subscribeStep: fc.Arbitrary<SubscribeStep> = fc.record({
  kind: fc.constant('subscribe'),
  after: fc.double({ min: 0, max: 1, noNaN: true }),
  category: fc.constantFrom(undefined, ...categories),
  pauses: fc.nat(3),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: appendStep },
    { weight: 2, arbitrary: subscribeStep },
    { weight: 2, arbitrary: fc.constant({ kind: 'turn' } as const) },
  ),
  { minLength: 5, maxLength: 60 },
);

type Watch = {
  readonly after: LogPosition;
  readonly category: string | undefined;
  readonly received: Promise<RecordedEvent[]>;
};

/** The seam between stored and future events, under random interleavings. */
export const seamClauses: Clauses = {
  'a subscriber sees every later event once and in order, wherever and whenever it begins': async (
    t,
    makeLog,
    { isFarAway = false },
  ) => {
    const { log } = await makeLog(t);
    /** Every position of the runs before: a subscription begins at one that the log gave. */
    const known: LogPosition[] = [];
    let run = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        run += 1;
        const watches = await play(log, plan, { name: run.toString(), known });
        const all = await collect(log.readAll({ after: logStart }));
        // Over a wire, reading all the runs before again and again would take most of the time.
        known.splice(0, known.length, ...all.slice(isFarAway ? -200 : 0).map(({ position }) => position));
        for (const { after, category, received } of watches) {
          const expected = all.filter(
            ({ position, stream: from }) =>
              position > after && (category === undefined || from.startsWith(`${category}:`)),
          );
          const got = await received;
          if (!same(got, expected))
            throw new Error(
              `after ${after.toString()} (${category ?? 'all'}): got ${list(got)}, expected ${list(expected)}`,
            );
        }
      }),
      { seed, numRuns },
    );
    t.pass();
  },
};

function list(events: readonly RecordedEvent[]): string {
  return events.map(({ position }) => position.toString()).join(',');
}

function same(left: readonly RecordedEvent[], right: readonly RecordedEvent[]): boolean {
  return (
    left.length === right.length &&
    left.every((event, index) => {
      const twin = right[index];
      return (
        twin !== undefined &&
        event.id === twin.id &&
        event.position === twin.position &&
        event.revision === twin.revision
      );
    })
  );
}

type RunPlace = { readonly name: string; readonly known: readonly LogPosition[] };

/** One run of the property: its own streams, in a log it shares with the runs before it. */
class Run {
  readonly watches: Watch[] = [];
  readonly #log: EventLog;
  readonly #name: string;
  readonly #known: readonly LogPosition[];
  readonly #heads = new Map<StreamName, number>();
  #proposed = 0;

  constructor(log: EventLog, { name, known }: RunPlace) {
    this.#log = log;
    this.#name = name;
    this.#known = known;
  }

  async append(rest: string, category: string, size: number): Promise<void> {
    const stream = streamName(`${category}:${this.#name}/${rest}`);
    const head = this.#heads.get(stream) ?? -1;
    this.#heads.set(stream, head + size);
    this.#proposed += 1;
    const events =
      rest === 'stop' ? [proposed(this.#stop(category))] : batchOf(`${this.#name}/${this.#proposed.toString()}`, size);
    const outcome = appended(await this.#log.append(stream, events, head < 0 ? 'absent' : streamRevision(head)));
    if (outcome.revision !== head + size) throw new Error('an append was answered with another revision');
  }

  async subscribe({ after: share, category, pauses }: SubscribeStep): Promise<void> {
    const index = Math.round(share * (this.#known.length + 1));
    const after = index === 0 ? logStart : (this.#known[index - 1] ?? (await this.#log.head()));
    const options = { after, ...(category === undefined ? {} : { categories: [category] }) };
    this.watches.push({ after, category, received: this.#receive(options, pauses) });
  }

  async #receive(options: SubscribeOptions, pauses: number): Promise<RecordedEvent[]> {
    const received: RecordedEvent[] = [];
    const last = idOf(this.#stop(options.categories?.[0] ?? 'claim'));
    for await (const batch of this.#log.subscribe(options)) {
      received.push(...batch);
      if (batch.some(({ id }) => id === last)) break;
      for (let pause = 0; pause < pauses; pause += 1) await nextTurn();
    }
    return received;
  }

  #stop(category: string): string {
    return `${this.#name}/stop/${category}`;
  }
}

/**
 * Performs the steps, lets every subscriber reach the last event of its category, and returns their received events.
 */
async function play(log: EventLog, plan: readonly Step[], place: RunPlace): Promise<readonly Watch[]> {
  const run = new Run(log, place);
  const inFlight: Promise<void>[] = [];
  for (const step of plan) {
    if (step.kind === 'turn') await nextTurn();
    if (step.kind === 'subscribe') await run.subscribe(step);
    if (step.kind === 'append') {
      const done = run.append(step.stream.toString(), categories[step.stream % 2] ?? 'object', step.size);
      inFlight.push(done);
      if (step.wait) await done;
    }
  }
  await Promise.all(inFlight);
  for (const category of categories) await run.append('stop', category, 1);
  return run.watches;
}
