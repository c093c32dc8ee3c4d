import { logReadAheadEventsMax } from '../../../src/limits/log.ts';
import { UnknownPositionError } from '../../../src/log/log.ts';
import type {
  AppendOutcome,
  BackwardReadOptions,
  BackwardStreamPage,
  EventLog,
  ExpectedRevision,
  LogPosition,
  LogState,
  ProposedEvent,
  RecordedEvent,
  StreamName,
  StreamPage,
  SubscribeOptions,
} from '../../../src/log/log.ts';
import { staleMsMax } from '../faults.ts';
import { Passage, type Surroundings, type Traveller } from '../passage.ts';

export class UnreachableError extends Error {}

type Append = {
  readonly stream: StreamName;
  readonly events: readonly ProposedEvent[];
  readonly expected: ExpectedRevision;
};

/**
 * The port of the log as one life of one node has it: every promise of the port is kept, and everything it leaves open
 * goes wrong as the run's faults say. Requests travel, may be lost, come late or twice; so do answers.
 */
export class NodeLog implements EventLog {
  readonly #world: Surroundings;
  readonly #passage: Passage;
  /** What this life appended: its subscription hands out the very instances. */
  readonly #own = new Map<string, ProposedEvent>();
  /** Fails calls in flight. */
  readonly #inFlight = new Set<() => void>();
  #closed = false;

  constructor(world: Surroundings, traveller: Traveller) {
    this.#world = world;
    this.#passage = new Passage(world, traveller);
  }

  /** Its subscription left out an event, which must stop the node. */
  get hasGap(): boolean {
    return this.#passage.hasGap;
  }

  /** The subscription of the audit indexes left out an event. */
  get hasAuditGap(): boolean {
    return this.#passage.hasAuditGap;
  }

  async append(
    stream: StreamName,
    events: readonly ProposedEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendOutcome> {
    if (events.length === 0) throw new RangeError('an append must have at least one event');
    const append: Append = { stream, events, expected };
    const outcome = await new Promise<AppendOutcome>((resolve) => {
      const failed = (reason: 'unavailable' | 'unknown', why: string): void => {
        this.#passage.note(`append ${reason}`);
        resolve({ ok: false, reason, cause: new UnreachableError(why) });
      };
      if (this.#isDown)
        this.#passage.life.later(this.#passage.callMs(), 'refuses an append', () => {
          failed('unavailable', 'the log cannot be reached');
        });
      else this.#send(append, resolve, failed);
    });
    this.#world.timeline.add(
      () =>
        `${this.#passage.link.node} append ${stream}@${String(expected)} ${events[0]?.type ?? ''} → ` +
        (outcome.ok ? `r${String(outcome.revision)} p${outcome.position.toString()}` : outcome.reason),
    );
    return outcome;
  }

  #send(
    append: Append,
    resolve: (outcome: AppendOutcome) => void,
    failed: (reason: 'unknown', why: string) => void,
  ): void {
    const { timeline, random, shared } = this.#world;
    for (const event of append.events) this.#own.set(event.id, event);
    const fate = this.#passage.fate(append);
    const fail = (): void => {
      this.#inFlight.delete(fail);
      failed('unknown', fate ?? 'in flight as the connection broke');
    };
    const answer = (outcome: AppendOutcome): void => {
      if (this.#inFlight.delete(fail)) resolve(outcome);
    };
    const reply = (outcome: AppendOutcome): void => {
      if (outcome.ok || outcome.reason !== 'unknown')
        this.#passage.note(outcome.ok ? 'append took place' : 'append in conflict');
      this.#passage.life.later(this.#passage.callMs(), 'an answer', () => {
        answer(outcome);
      });
    };
    const land = (afterMs: number, then: (outcome: AppendOutcome) => void): void => {
      shared.onTheirWay += 1;
      timeline.schedule(afterMs, 'an append arrives', () => {
        shared.onTheirWay -= 1;
        const before = shared.events.length;
        const outcome = shared.append(append.stream, append.events, append.expected);
        if (!this.#passage.life.alive && shared.events.length > before)
          this.#passage.note('landed after its node died');
        then(outcome);
      });
    };
    const timeOut = (): void => {
      this.#passage.life.later(random.between(5, 400), 'an append is given up', () => {
        if (this.#inFlight.has(fail)) fail();
      });
    };
    this.#inFlight.add(fail);
    switch (fate) {
      case undefined:
        land(this.#passage.callMs(), reply);
        break;
      case 'lost':
        timeOut();
        break;
      case 'unacknowledged':
        land(this.#passage.callMs(), () => undefined);
        timeOut();
        break;
      case 'late':
        land(random.between(300, 12_000), () => undefined);
        timeOut();
        if (append.stream.startsWith('object:')) this.#passage.crashAfterLate();
        break;
      case 'duplicated':
        land(this.#passage.callMs(), reply);
        land(random.between(1, 4_000), () => undefined);
        break;
      case 'falselyConflicting':
        this.#conflictFalsely(append, { land, reply });
        break;
    }
    this.#passage.maybeCrash('after sending an append');
  }

  /** The log reports a false conflict, and the writer reads the actual event. */
  #conflictFalsely(
    { stream, events, expected }: Append,
    {
      land,
      reply,
    }: { readonly land: (afterMs: number, then: () => void) => void; readonly reply: (outcome: AppendOutcome) => void },
  ): void {
    const look = (): void => {
      this.#world.timeline.schedule(this.#passage.callMs(), 'a conflict is looked into', () => {
        reply(this.#world.shared.settle(stream, events, expected));
      });
    };
    if (this.#world.random.chance(0.5)) land(this.#passage.callMs(), look);
    else look();
  }

  async readStream(stream: StreamName, { from, limit }: StreamPage): Promise<readonly RecordedEvent[]> {
    return this.#ask(`read ${stream}`, () =>
      this.#seen(stream)
        .slice(from, from + limit)
        .map((event) => this.#handed(event)),
    );
  }

  async readStreamBackward(stream: StreamName, { from, limit }: BackwardStreamPage): Promise<readonly RecordedEvent[]> {
    return this.#ask(`read ${stream} backwards`, () =>
      this.#seen(stream)
        .filter(({ revision }) => from === undefined || revision <= from)
        .toReversed()
        .slice(0, limit)
        .map((event) => this.#handed(event)),
    );
  }

  async readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    return this.#ask(`read ${stream}`, () => {
      const last = this.#seen(stream).at(-1);
      return last === undefined ? undefined : this.#handed(last);
    });
  }

  async readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    return this.#ask('read at', () => this.#world.shared.at(position));
  }

  async head(): Promise<LogPosition> {
    return this.#ask('read head', () => this.#world.shared.head);
  }

  async *readAll({
    after,
    until,
    categories,
    signal,
  }: SubscribeOptions & { readonly until?: LogPosition }): AsyncGenerator<readonly RecordedEvent[]> {
    const { shared, random } = this.#world;
    const head = await this.#ask('read all', () => shared.events.length);
    const last =
      until === undefined ? head : Math.min(head, shared.events.filter(({ position }) => position <= until).length);
    for (let next = this.#placeAfter(after); next < last && signal?.aborted !== true;) {
      const whole = await this.#ask('read on', () =>
        shared.wholeAppends(next, Math.min(last, next + random.between(1, 12))),
      );
      next += whole.length;
      const batch = this.#batch(whole, categories);
      if (batch.length > 0) yield batch;
    }
  }

  async *readAllBackward({
    before,
    after,
    categories,
    signal,
  }: BackwardReadOptions): AsyncGenerator<readonly RecordedEvent[]> {
    const { shared, random } = this.#world;
    const first = after === undefined ? 0 : this.#placeAfter(after);
    const head = await this.#ask('read all backwards', () => shared.events.length);
    let end = before === undefined ? head : Math.min(head, this.#placeAfter(before) - 1);
    while (end > first && signal?.aborted !== true) {
      const begin = Math.max(first, end - random.between(1, 12));
      const until = end;
      const taken = await this.#ask('read on backwards', () => shared.events.slice(begin, until));
      end = begin;
      const batch = this.#batch(taken, categories).toReversed();
      if (batch.length > 0) yield batch;
    }
  }

  async *subscribe({ after, categories, signal }: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
    const { shared, random } = this.#world;
    for (let next = this.#placeAfter(after); !this.#closed;) {
      await this.#arrival(next, signal);
      if (signal?.aborted === true) return;
      const most = random.chance(0.5) ? random.between(1, 4) : logReadAheadEventsMax;
      const whole = shared.wholeAppends(next, next + most);
      next += whole.length;
      const taken = this.#batch(whole, categories);
      const isAudit = categories?.includes('access') === true;
      const batch = isAudit ? this.#passage.deliveredToAudit(taken) : this.#passage.delivered(taken);
      if (batch.some(({ id }) => this.#own.has(id) && this.#inFlight.size > 0))
        this.#passage.note('delivered, perhaps before its acknowledgement');
      if (batch.length > 0) yield batch;
    }
  }

  state(): LogState {
    return this.#isDown ? { reachable: false, reason: 'it is down', sinceMs: 0 } : { reachable: true };
  }

  async close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  /** Everything in flight fails at once, whether it arrives or not. */
  rejectInFlight(): void {
    for (const fail of [...this.#inFlight]) {
      this.#passage.note('rejected in flight');
      fail();
    }
  }

  get #isDown(): boolean {
    return this.#closed || this.#passage.isDown;
  }

  /** A question is answered as things were when it arrived, which may be long before the answer is there. */
  #ask<T>(what: string, look: () => T): Promise<T> {
    const { timeline } = this.#world;
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        this.#inFlight.delete(fail);
        this.#passage.note('read failed');
        reject(new UnreachableError(`${what} failed`));
      };
      this.#inFlight.add(fail);
      if (this.#closed || this.#passage.readFails()) {
        this.#passage.life.later(this.#passage.callMs(), `${what} fails`, () => {
          if (this.#inFlight.has(fail)) fail();
        });
        return;
      }
      timeline.schedule(this.#passage.callMs(), what, () => {
        if (!this.#passage.life.alive) return;
        const answer = look();
        this.#passage.life.later(this.#passage.callMs(), 'an answer', () => {
          if (this.#inFlight.delete(fail)) resolve(answer);
        });
      });
      this.#passage.maybeCrash(`at ${what}`);
    });
  }

  #seen(stream: StreamName): readonly RecordedEvent[] {
    const { shared, random, faults, timeline } = this.#world;
    const events = shared.stream(stream);
    const { staleReads, staleObjectReads } = faults();
    const isObject = stream.startsWith('object:');
    if (
      events.length === 0 ||
      !/^(?:claim|lease|object):/u.test(stream) ||
      !random.chance(isObject ? staleObjectReads : staleReads)
    )
      return events;
    this.#passage.note(isObject ? 'stale read of an object' : 'stale read');
    const asOf = timeline.now - random.between(1, staleMsMax);
    return events.filter((event) => shared.landedAt(event) <= asOf);
  }

  #placeAfter(position: LogPosition): number {
    const place = this.#world.shared.placeAfter(position);
    if (place === undefined) throw new UnknownPositionError(position);
    return place;
  }

  #batch(batch: readonly RecordedEvent[], categories: SubscribeOptions['categories']): readonly RecordedEvent[] {
    return batch
      .filter(({ stream }) => categories?.includes(stream.slice(0, stream.indexOf(':'))) ?? true)
      .map((event) => this.#handed(event));
  }

  #handed(event: RecordedEvent): RecordedEvent {
    const own = this.#own.get(event.id);
    return own === undefined ? event : { ...event, data: own.data, metadata: own.metadata };
  }

  /** Resolves once the subscription is handed what comes at `next`. */
  #arrival(next: number, signal: AbortSignal | undefined): Promise<void> {
    const { shared, random } = this.#world;
    return new Promise((resolve) => {
      const finish = (): void => {
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const arrive = (): void => {
        const wait = this.#passage.stallMs();
        if (wait <= 0) finish();
        else this.#passage.life.later(wait + random.below(50), 'the subscription is renewed', arrive);
      };
      const leave = (): void => {
        this.#passage.life.later(this.#passage.feedMs(), 'a delivery', arrive);
      };
      signal?.addEventListener('abort', finish, { once: true });
      if (shared.events.length > next) leave();
      else shared.onLanded(leave);
    });
  }
}
