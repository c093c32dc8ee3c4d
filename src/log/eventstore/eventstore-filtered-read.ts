import { Transform, type Readable, type TransformCallback } from 'node:stream';

import { convertToCommandError } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

import type { RawRecord } from './eventstore-record.ts';
import type { WireAnswer } from './eventstore-wire.ts';

/** A gRPC call that emits decoded messages. */
export type SubscriptionCall = Readable & { cancel(): void };

/** A backward read of events before a position (exclusive), in streams with one of the prefixes. */
export type FilteredRead = {
  readonly from: bigint | 'end';
  readonly prefixes: readonly string[];
  readonly maxCount: number;
};

/** Creates the request of a filtered read. The server supports this request, but the driver does not. */
export function filteredReadRequest({ from, prefixes, maxCount }: FilteredRead): streams.ReadReq {
  const all = new streams.ReadReq.Options.AllOptions();
  if (from === 'end') all.setEnd(new shared.Empty());
  else all.setPosition(positionMessage(from));
  const options = new streams.ReadReq.Options();
  options.setAll(all);
  options.setReadDirection(streams.ReadReq.Options.ReadDirection.BACKWARDS);
  options.setCount(maxCount.toString());
  options.setFilter(prefixFilter(prefixes));
  options.setUuidOption(textIds());
  const request = new streams.ReadReq();
  request.setOptions(options);
  return request;
}

export function positionMessage(position: bigint): streams.ReadReq.Options.Position {
  const message = new streams.ReadReq.Options.Position();
  message.setCommitPosition(position.toString());
  message.setPreparePosition(position.toString());
  return message;
}

export function prefixFilter(prefixes: readonly string[]): streams.ReadReq.Options.FilterOptions {
  const expression = new streams.ReadReq.Options.FilterOptions.Expression();
  expression.setPrefixList([...prefixes]);
  const filter = new streams.ReadReq.Options.FilterOptions();
  filter.setStreamIdentifier(expression);
  filter.setCount(new shared.Empty());
  // EventStoreDB sends checkpoints of the filter, which the reader ignores. This interval makes them as rare as
  // possible.
  filter.setCheckpointintervalmultiplier(1_000);
  return filter;
}

export function textIds(): streams.ReadReq.Options.UUIDOption {
  const ids = new streams.ReadReq.Options.UUIDOption();
  ids.setString(new shared.Empty());
  return ids;
}

/** A stream of the records of one call. Fails with the driver's errors. */
export class RawRead extends Transform {
  #call: SubscriptionCall | undefined;
  #isCancelled = false;

  constructor(opened: Promise<SubscriptionCall>) {
    super({ objectMode: true });
    opened.then(
      (call) => {
        this.#begin(call);
      },
      (error: unknown) => {
        this.destroy(error instanceof Error ? error : new Error('the driver failed without an error'));
      },
    );
  }

  #begin(call: SubscriptionCall): void {
    this.#call = call;
    // The listener remains after the end, because a cancelled call reports the cancellation as an error.
    call.on('error', (error: Error) => {
      this.destroy(convertToCommandError(error));
    });
    call.pipe(this);
    if (this.#isCancelled) call.cancel();
  }

  override _transform(answer: WireAnswer, _encoding: string, next: TransformCallback): void {
    if (typeof answer === 'string') next();
    else next(null, answer satisfies RawRecord);
  }

  /** Cancels the read. Returns a promise, as the reads of the driver do. */
  cancel(): Promise<void> {
    this.#isCancelled = true;
    this.#call?.cancel();
    return Promise.resolve();
  }
}
