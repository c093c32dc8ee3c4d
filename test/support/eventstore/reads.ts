import { randomUUID } from 'node:crypto';

import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';

import { caughtUp, checkpoint, confirmation, streamNotFound } from './answers.ts';
import type { Faults, ReadFault, Refusal } from './faults.ts';
import type { ServerLog } from './server-log.ts';
import type { StoredEvent } from './stored-event.ts';

export type ReadCall = ServerWritableStream<messages.ReadReq, Buffer>;

/** Ends a call with the status of an error. */
export class CallFailure extends Error {
  readonly code: number;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(code: number, details: string, metadata: Readonly<Record<string, string>> = {}) {
    super(details);
    this.code = code;
    this.metadata = metadata;
  }
}

/** The number of events that a filtered read checks between two checkpoints, before the client's multiplier. */
const searchWindow = 32;
const largest = Number.MAX_SAFE_INTEGER;

/** Sends events to one reader, with the faults that apply to it. */
export class Reader {
  readonly #call: ReadCall;
  readonly #log: ServerLog;
  readonly #faults: Faults;
  readonly #fault: ReadFault | undefined;
  readonly #options: messages.ReadReq.Options;
  #sent = 0;
  #ended = false;
  #refusal: Refusal | undefined;
  /** The number of events by which a live subscription is behind; 0 while it catches up, so that it is not dropped. */
  #behind = (): number => 0;
  /** Resolves the waiting read: the log has grown, the client has read, or the call ends. */
  #wake: (() => void) | undefined;

  constructor(call: ReadCall, log: ServerLog, faults: Faults, fault: ReadFault | undefined) {
    this.#call = call;
    this.#log = log;
    this.#faults = faults;
    this.#fault = fault;
    this.#options = call.request.getOptions() as messages.ReadReq.Options;
    for (const over of ['cancelled', 'close', 'error'])
      call.on(over, () => {
        this.end();
      });
  }

  /** Ends the call; `refusal` is the status of an error. */
  end(refusal?: Refusal): void {
    this.#ended = true;
    this.#refusal ??= refusal;
    this.wake();
  }

  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async read(): Promise<void> {
    if (this.#fault?.kind === 'refuse') {
      const { code, details, metadata } = this.#fault.refusal;
      throw new CallFailure(code, details, metadata);
    }
    if (this.#fault?.kind === 'silent') {
      while (!this.#ended) await this.#woken();
      return;
    }
    await this.#deliver();
    if (this.#refusal !== undefined)
      throw new CallFailure(this.#refusal.code, this.#refusal.details, this.#refusal.metadata);
  }

  async #deliver(): Promise<void> {
    const subscription = this.#options.hasSubscription();
    if (this.#options.hasAll()) await (subscription ? this.#followAll() : this.#readAll());
    else await (subscription ? this.#followStream() : this.#readStream());
  }

  /** @returns whether the reader should continue. */
  async #send(bytes: Buffer): Promise<boolean> {
    while (this.#faults.stalled && this.#options.hasSubscription() && !this.#isEnded()) await this.#woken();
    if (this.#isEnded()) return false;
    if (this.#call.write(bytes)) return true;
    const drained = (): void => {
      this.wake();
    };
    this.#call.once('drain', drained);
    // `#wake` also runs when the log grows, so the loop checks that the client has read.
    while (this.#call.writableNeedDrain && !this.#isEnded()) {
      this.#failWhenTooSlow();
      await this.#woken();
    }
    this.#call.off('drain', drained);
    return !this.#isEnded();
  }

  #isEnded(): boolean {
    return this.#ended;
  }

  async #event({ response, stream }: StoredEvent): Promise<boolean> {
    if (this.#options.hasAll()) this.#faults.sent?.(stream);
    if (this.#fault?.kind === 'cut' && this.#sent >= this.#fault.afterEvents) {
      const { refusal } = this.#fault;
      if (refusal !== undefined) throw new CallFailure(refusal.code, refusal.details, refusal.metadata);
      return false;
    }
    this.#sent += 1;
    const goesOn = await this.#send(response);
    return goesOn && this.#fault?.kind === 'twice' ? this.#send(response) : goesOn;
  }

  /** Reads the whole log from a position: forwards inclusive of the position, backwards exclusive. */
  async #readAll(): Promise<void> {
    const backwards = this.#options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
    const position = this.#position(backwards ? largest : 0);
    // From beyond the end, a forward read is empty, and a backward read fails as on a real server.
    if (backwards && position !== largest && position > this.#log.end)
      throw new CallFailure(2, 'Unexpected FilteredReadAllResult: Error');
    const wanted = this.#filter();
    let left = Number(this.#options.getCount());
    const first = this.#log.countBefore(position);
    for (let index = backwards ? first - 1 : first; left > 0; index += backwards ? -1 : 1) {
      const event = this.#log.at(index);
      if (event === undefined) return;
      if (!wanted(event)) continue;
      left -= 1;
      if (!(await this.#event(event))) return;
    }
  }

  #position(otherwise: number): number {
    const all = this.#options.getAll();
    if (all?.hasStart() === true) return 0;
    if (all?.hasEnd() === true) return largest;
    const asked = all?.getPosition();
    if (asked === undefined) return otherwise;
    const commit = Number(asked.getCommitPosition());
    if (!this.#log.isAligned(commit)) throw new CallFailure(2, 'Unexpected FilteredReadAllResult: Error');
    return commit;
  }

  #filter(): (event: StoredEvent) => boolean {
    const filter = this.#options.getFilter();
    if (filter === undefined) return () => true;
    const byName = filter.hasStreamIdentifier();
    const expression = byName ? filter.getStreamIdentifier() : filter.getEventType();
    const subject = byName ? ({ stream }: StoredEvent) => stream : ({ type }: StoredEvent) => type;
    const prefixes = expression?.getPrefixList() ?? [];
    const pattern = expression?.getRegex() ?? '';
    if (pattern === '') return (event) => prefixes.some((prefix) => subject(event).startsWith(prefix));
    const regex = new RegExp(pattern, 'u');
    return (event) => regex.test(subject(event));
  }

  /** The filter of a subscription, with what it leaves out by a fault. */
  #subscribed(): (event: StoredEvent) => boolean {
    const wanted = this.#filter();
    const prefixes = this.#options.getFilter()?.getStreamIdentifier()?.getPrefixList() ?? [];
    return (event) => wanted(event) && this.#faults.leftOut?.(event, prefixes) !== true;
  }

  async #readStream(): Promise<void> {
    const options = this.#options.getStream();
    const name = Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const range = this.#rangeOf(name);
    if (range === undefined) {
      await this.#send(streamNotFound(name));
      return;
    }
    const backwards = this.#options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
    const asked =
      options?.hasStart() === true ? 0 : options?.hasEnd() === true ? largest : Number(options?.getRevision() ?? '0');
    let left = Number(this.#options.getCount());
    let revision = backwards ? Math.min(asked, range.last) : Math.max(asked, range.first);
    while (left > 0 && revision >= range.first && revision <= range.last) {
      const event = this.#log.ofStream(name, revision);
      if (event === undefined || !(await this.#event(event))) return;
      left -= 1;
      revision += backwards ? -1 : 1;
    }
  }

  #rangeOf(name: string): { readonly first: number; readonly last: number } | undefined {
    const range = this.#log.readable(name);
    if (range?.tombstone === true) {
      throw new CallFailure(9, `Event stream '${name}' is deleted.`, {
        exception: 'stream-deleted',
        'stream-name': name,
      });
    }
    return range;
  }

  /**
   * Subscribes to the whole log after a position. If the position is beyond the end of the log, the next event is the
   * first. If the event at the position is no longer stored, the subscription skips the next event of any stream,
   * because servers before 24.2 take it for the event at the position.
   */
  async #followAll(): Promise<void> {
    const position = this.#position(0);
    const fromStart = this.#options.getAll()?.hasStart() === true;
    const wanted = this.#subscribed();
    const interval =
      searchWindowOf(this.#options) * Math.max(1, this.#options.getFilter()?.getCheckpointintervalmultiplier() ?? 1);
    const checkpoints = this.#options.hasFilter();
    const begun = this.#log.at(this.#log.countBefore(position))?.position;
    let last = fromStart ? -1 : (begun ?? this.#log.end - 1);
    let [considered, live] = [0, false];
    if (!(await this.#send(confirmation(randomUUID())))) return;
    while (!this.#isEnded()) {
      for (let index = this.#log.countBefore(last + 1); ;) {
        const event = this.#log.at(index);
        if (event === undefined) break;
        last = event.position;
        considered += 1;
        if (wanted(event) && !(await this.#event(event))) return;
        if (checkpoints && considered % interval === 0 && !(await this.#send(checkpoint(last)))) return;
        // While the loop waited for the client, a scavenge may have changed the index of the next event.
        index = this.#log.at(index)?.position === last ? index + 1 : this.#log.countBefore(last + 1);
      }
      if (!live) {
        live = true;
        this.#behind = () => this.#log.visible - this.#log.countBefore(last + 1);
        if (!(await this.#send(caughtUp()))) return;
        continue;
      }
      await this.#woken();
    }
  }

  async #followStream(): Promise<void> {
    const options = this.#options.getStream();
    const name = Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    let next =
      options?.hasStart() === true
        ? 0
        : options?.hasEnd() === true
          ? (this.#rangeOf(name)?.last ?? -1) + 1
          : Number(options?.getRevision() ?? '0') + 1;
    let live = false;
    if (!(await this.#send(confirmation(randomUUID())))) return;
    while (!this.#isEnded()) {
      for (let range = this.#rangeOf(name); range !== undefined && next <= range.last; range = this.#rangeOf(name)) {
        next = Math.max(next, range.first);
        const event = this.#log.ofStream(name, next);
        next += 1;
        if (event !== undefined && !(await this.#event(event))) return;
      }
      if (!live) {
        live = true;
        if (!(await this.#send(caughtUp()))) return;
        continue;
      }
      await this.#woken();
    }
  }

  #failWhenTooSlow(): void {
    if (this.#behind() <= this.#faults.liveLagMax) return;
    throw new CallFailure(
      10,
      'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
    );
  }
}

function searchWindowOf(options: messages.ReadReq.Options): number {
  const filter = options.getFilter();
  return filter?.hasMax() === true ? filter.getMax() : searchWindow;
}
