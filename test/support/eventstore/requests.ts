import messages from '@eventstore/db-client/generated/streams_pb.js';

import { memberOf, membersOf } from './protobuf.ts';
import type { Expected } from './server-log.ts';
import type { Proposed } from './stored-event.ts';

/** One message on the stream of batch appends. An append may take several messages. */
export type BatchRequest = {
  readonly correlation: string;
  /** Only the first message of an append has it. */
  readonly target: { readonly stream: string; readonly expected: Expected; readonly deadlineMs: number } | undefined;
  readonly events: readonly Proposed[];
  readonly final: boolean;
};

export function decodeBatchRequest(bytes: Buffer): BatchRequest {
  let correlation = '';
  let target: BatchRequest['target'];
  const events: Proposed[] = [];
  let final = false;
  for (const member of membersOf(bytes)) {
    if (member.field === 1) correlation = textOf(member.bytes, 2);
    else if (member.field === 2) target = decodeTarget(member.bytes);
    else if (member.field === 3) events.push(decodeProposed(member.bytes));
    else if (member.field === 4) final = member.number === 1n;
  }
  return { correlation, target, events, final };
}

function decodeTarget(bytes: Buffer): BatchRequest['target'] {
  let stream = '';
  let expected: Expected = 'any';
  let deadlineMs = Infinity;
  for (const member of membersOf(bytes)) {
    if (member.field === 1) stream = textOf(member.bytes, 3);
    else if (member.field === 2) expected = Number(member.number);
    else if (member.field === 3) expected = 'no_stream';
    else if (member.field === 5) expected = 'stream_exists';
    else if (member.field === 6) deadlineMs = decodeTimestamp(member.bytes);
  }
  return { stream, expected, deadlineMs };
}

function decodeTimestamp(bytes: Buffer): number {
  let ms = 0;
  for (const { field, number } of membersOf(bytes))
    ms += field === 1 ? Number(number) * 1_000 : Number(number) / 1_000_000;
  return ms;
}

/** One message of a unary append: first its options, then its events one by one. */
export type AppendRequest =
  | { readonly kind: 'options'; readonly stream: string; readonly expected: Expected }
  | { readonly kind: 'event'; readonly event: Proposed };

export function decodeAppendRequest(bytes: Buffer): AppendRequest {
  const proposed = memberOf(bytes, 2);
  if (proposed !== undefined) return { kind: 'event', event: decodeProposed(proposed) };
  const options = messages.AppendReq.deserializeBinary(bytes).getOptions();
  const stream = Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  return { kind: 'options', stream, expected: expectedOf(options) };
}

export function expectedOf(
  options: messages.AppendReq.Options | messages.DeleteReq.Options | messages.TombstoneReq.Options | undefined,
): Expected {
  if (options?.hasNoStream() === true) return 'no_stream';
  if (options?.hasStreamExists() === true) return 'stream_exists';
  return options?.hasRevision() === true ? Number(options.getRevision()) : 'any';
}

function decodeProposed(bytes: Buffer): Proposed {
  let id = '';
  let type = '';
  let isJson = false;
  let data: Uint8Array = Buffer.alloc(0);
  let metadata: Uint8Array = data;
  for (const member of membersOf(bytes)) {
    if (member.field === 1) id = textOf(member.bytes, 2);
    else if (member.field === 3) metadata = member.bytes;
    else if (member.field === 4) data = member.bytes;
    else if (textOf(member.bytes, 1) === 'type') type = textOf(member.bytes, 2);
    else if (textOf(member.bytes, 1) === 'content-type') isJson = textOf(member.bytes, 2) === 'application/json';
  }
  return { id, type, isJson, data, metadata };
}

function textOf(bytes: Buffer, field: number): string {
  return memberOf(bytes, field)?.toString() ?? '';
}
