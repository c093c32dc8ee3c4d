import { logStart, streamName } from '../../src/log/log.ts';
import type { AppendOutcome, EventLog, ExpectedRevision, LogPosition, LogState, ProposedEvent, RecordedEvent, StreamName, StreamRevision, SubscribeOptions }
  from '../../src/log/log.ts';

/** A part of a log that others write to as well, which looks like a log of its own: by streams, and from a position on. */
export class OwnPart implements EventLog {
  readonly #log: EventLog;
  readonly #name: string;
  /** Where this part begins. */
  start: LogPosition;

  private constructor(log: EventLog, name: string, start: LogPosition) {
    this.#log = log;
    this.#name = name;
    this.start = start;
  }

  static async open(log: EventLog, name: string): Promise<OwnPart> {
    return new OwnPart(log, name, await log.head());
  }

  #outer(stream: StreamName): StreamName {
    return streamName(stream.replace(':', `:${this.#name}/`));
  }

  #inner(event: RecordedEvent): RecordedEvent | undefined {
    const stream = event.stream.replace(`:${this.#name}/`, ':');
    return stream === event.stream ? undefined : { ...event, stream: streamName(stream) };
  }

  async *#own(batches: AsyncIterable<readonly RecordedEvent[]>): AsyncGenerator<readonly RecordedEvent[]> {
    for await (const batch of batches) {
      const own = batch.map((event) => this.#inner(event)).filter((event) => event !== undefined);
      if (own.length > 0) yield own;
    }
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    return this.#log.append(this.#outer(stream), events, expected);
  }

  async readStream(stream: StreamName, options: { readonly from: StreamRevision; readonly limit: number }): Promise<readonly RecordedEvent[]> {
    return (await this.#log.readStream(this.#outer(stream), options)).map((event) => this.#inner(event)).filter((event) => event !== undefined);
  }

  async readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    const last = await this.#log.readLast(this.#outer(stream));
    return last && this.#inner(last);
  }

  async readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    const event = await this.#log.readAt(position);
    return event && this.#inner(event);
  }

  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]> {
    return this.#own(this.#log.readAll(this.#from(options)));
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return this.#own(this.#log.subscribe(this.#from(options)));
  }

  #from<T extends SubscribeOptions>(options: T): T {
    return options.after < this.start ? { ...options, after: this.start } : options;
  }

  state(): LogState {
    return this.#log.state();
  }

  /** While nobody else writes, the head is ours or where we began. */
  async head(): Promise<LogPosition> {
    const head = await this.#log.head();
    return head === this.start ? logStart : head;
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
