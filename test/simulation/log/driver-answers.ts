import { ErrorType } from '@eventstore/db-client';

import { eventStorePrefixDefault as streamPrefix } from '../../../src/config/eventstore-prefix.ts';
import { storedRecord, type RawRecord } from '../../../src/log/eventstore/eventstore-record.ts';
import type { ExpectedRevision, ProposedEvent, RecordedEvent, StreamName } from '../../../src/log/log.ts';

/** What the driver of EventStoreDB answers: its errors, which are known by their members, and its events. */

type Members = { readonly type?: ErrorType; readonly code?: number; readonly actualVersion?: bigint | 'no_stream' };

function driverError(message: string, members: Members): Error {
  return Object.assign(new Error(message), members);
}

export const unavailable = (): Error =>
  driverError('14 UNAVAILABLE: the connection was lost', { type: ErrorType.UNAVAILABLE, code: 14 });
/** Of a call that never left. */
export const unconnected = (): Error =>
  driverError('14 UNAVAILABLE: No connection established', { type: ErrorType.UNAVAILABLE, code: 14 });
export const dropped = (): Error => driverError('10 ABORTED: the reader is too slow', { code: 10 });
/** The server has no error of its own for a position at which no event begins. */
export const failed = (): Error => driverError('2 UNKNOWN: Unexpected error', { type: ErrorType.UNKNOWN, code: 2 });
export const notLeader = (): Error =>
  driverError('5 NOT_FOUND: Leader info available', { type: ErrorType.NOT_LEADER, code: 5 });
/** As the answer to one append: no status, as the stream goes on. */
export const notLeaderReply = (): Error => driverError('Leader info available', { type: ErrorType.NOT_LEADER });
export const noStream = (): Error =>
  driverError('5 NOT_FOUND: no such stream', { type: ErrorType.STREAM_NOT_FOUND, code: 5 });
export const wrongVersion = (actual: ExpectedRevision): Error =>
  driverError('wrong expected version', {
    type: ErrorType.WRONG_EXPECTED_VERSION,
    actualVersion: actual === 'absent' ? 'no_stream' : BigInt(actual),
  });

/** What the driver is given to append. */
export type DriverEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/** As the port gave it to the adapter. */
export function proposedOf(stream: string, { id, type, data, metadata }: DriverEvent): ProposedEvent {
  const raw: RawRecord = {
    streamId: stream,
    id,
    revision: 0,
    type,
    isBytes: true,
    data,
    metadata,
    commit: 0n,
    prepare: 0n,
    createdMs: 0,
  };
  const stored = storedRecord(streamPrefix, raw);
  if (stored === undefined) throw new Error(`${stream} is none of ours`);
  return { id, type, data, metadata: stored.event.metadata };
}

export function streamOfDriver(stream: string): StreamName {
  if (!stream.startsWith(streamPrefix)) throw new Error(`${stream} is none of ours`);
  return stream.slice(streamPrefix.length) as StreamName;
}

export type Stored = {
  readonly event: RecordedEvent;
  /** As it was sent. */ readonly metadata: Uint8Array;
  readonly createdMs: number;
};

/** One message of a subscription. */
export function messageOf({
  event: { stream, id, revision, type, data, position },
  metadata,
  createdMs,
}: Stored): RawRecord {
  return {
    streamId: streamPrefix + stream,
    id,
    revision,
    type,
    isBytes: true,
    data,
    metadata,
    commit: position - 1n,
    prepare: position - 1n,
    createdMs,
  };
}

/** One event of a read; the driver parses the metadata. */
export function resolvedOf({
  event: { stream, id, revision, type, data, position },
  metadata,
  createdMs,
}: Stored): unknown {
  const place = { commit: position - 1n, prepare: position - 1n };
  return {
    event: {
      streamId: streamPrefix + stream,
      id,
      revision: BigInt(revision),
      type,
      data: new Uint8Array(data),
      metadata: JSON.parse(Buffer.from(metadata).toString()) as unknown,
      position: place,
      created: new Date(createdMs),
    },
  };
}
