import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Message } from 'google-protobuf';

import { BackwardWriter } from './protobuf.ts';
import type { Decision, Expected } from './server-log.ts';

/** The maximum number of bytes in one append; the server refuses more. */
export const appendBytesMax = 1_048_576;

/** Returns the bytes of the response to one append of a batch. */
export function batchAnswer(correlation: string, stream: string, outcome: BatchOutcome, expected: Expected): Buffer {
  if (outcome.kind !== 'appended') return batchError(correlation, stream, outcome, expected);
  const writer = new BackwardWriter(128 + stream.length * 3);
  writer.text(3, stream);
  writer.enclose(4, 0);
  const success = writer.written;
  if (outcome.position === undefined) {
    writer.bytes(4, Buffer.alloc(0));
  } else {
    const position = writer.written;
    writer.number(2, outcome.position);
    writer.number(1, outcome.position);
    writer.enclose(3, position);
  }
  if (outcome.revision === undefined) writer.bytes(2, Buffer.alloc(0));
  else writer.number(1, outcome.revision);
  writer.enclose(3, success);
  const id = writer.written;
  writer.text(2, correlation);
  writer.enclose(1, id);
  return writer.finish();
}

export type BatchOutcome =
  | Decision
  | { readonly kind: 'too-large' }
  | { readonly kind: 'late' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'unready' };

function batchError(correlation: string, stream: string, outcome: BatchOutcome, expected: Expected): Buffer {
  const answer = new messages.BatchAppendResp();
  const id = new shared.UUID();
  id.setString(correlation);
  answer.setCorrelationId(id);
  answer.setStreamIdentifier(identifier(stream));
  const error = new status.Status();
  const [name, details] = detailsOf(outcome, stream, expected);
  error.setMessage(outcome.kind === 'unready' ? 'Server Is Not Ready' : name);
  const packed = new any.Any();
  packed.pack(
    details.serializeBinary(),
    outcome.kind === 'unready' ? 'google.protobuf.Empty' : `event_store.client.${name}`,
  );
  error.setDetails(packed);
  answer.setError(error);
  return Buffer.from(answer.serializeBinary());
}

function detailsOf(outcome: BatchOutcome, stream: string, expected: Expected): [string, Message] {
  if (outcome.kind === 'wrong-version') return ['WrongExpectedVersion', wrongVersion(outcome.actual, expected)];
  if (outcome.kind === 'deleted') {
    const deleted = new shared.StreamDeleted();
    deleted.setStreamIdentifier(identifier(stream));
    return ['StreamDeleted', deleted];
  }
  if (outcome.kind === 'too-large') {
    const exceeded = new shared.MaximumAppendSizeExceeded();
    exceeded.setMaxappendsize(appendBytesMax);
    return ['MaximumAppendSizeExceeded', exceeded];
  }
  if (outcome.kind === 'late') return ['Timeout', new shared.Timeout()];
  if (outcome.kind === 'denied') return ['AccessDenied', new shared.AccessDenied()];
  return ['Unknown', new empty.Empty()];
}

function wrongVersion(actual: number | undefined, expected: Expected): shared.WrongExpectedVersion {
  const details = new shared.WrongExpectedVersion();
  if (actual === undefined) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(actual.toString());
  if (expected === 'any') details.setExpectedAny(new empty.Empty());
  else if (expected === 'stream_exists') details.setExpectedStreamExists(new empty.Empty());
  else if (expected === 'no_stream') details.setExpectedNoStream(new empty.Empty());
  else details.setExpectedStreamPosition(expected.toString());
  return details;
}

export function identifier(stream: string): shared.StreamIdentifier {
  const named = new shared.StreamIdentifier();
  named.setStreamName(new Uint8Array(Buffer.from(stream)));
  return named;
}

/** Returns the response to a unary append: its result, or the error for a wrong expected revision. */
export function appendAnswer(
  decision: Exclude<Decision, { readonly kind: 'deleted' }>,
  expected: Expected,
): messages.AppendResp {
  const answer = new messages.AppendResp();
  if (decision.kind === 'appended') {
    const success = new messages.AppendResp.Success();
    if (decision.revision === undefined) success.setNoStream(new shared.Empty());
    else success.setCurrentRevision(decision.revision.toString());
    if (decision.position === undefined) {
      success.setNoPosition(new shared.Empty());
    } else {
      const position = new messages.AppendResp.Position();
      position.setCommitPosition(decision.position.toString());
      position.setPreparePosition(decision.position.toString());
      success.setPosition(position);
    }
    answer.setSuccess(success);
    return answer;
  }
  const wrong = new messages.AppendResp.WrongExpectedVersion();
  if (decision.actual === undefined) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(decision.actual.toString());
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty());
  else wrong.setExpectedRevision(expected.toString());
  answer.setWrongExpectedVersion(wrong);
  return answer;
}

export function confirmation(id: string): Buffer {
  const answer = new messages.ReadResp();
  const confirmed = new messages.ReadResp.SubscriptionConfirmation();
  confirmed.setSubscriptionId(id);
  answer.setConfirmation(confirmed);
  return Buffer.from(answer.serializeBinary());
}

export function checkpoint(position: number): Buffer {
  const answer = new messages.ReadResp();
  const reached = new messages.ReadResp.Checkpoint();
  reached.setCommitPosition(position.toString());
  reached.setPreparePosition(position.toString());
  answer.setCheckpoint(reached);
  return Buffer.from(answer.serializeBinary());
}

export function caughtUp(): Buffer {
  const answer = new messages.ReadResp();
  answer.setCaughtUp(new messages.ReadResp.CaughtUp());
  return Buffer.from(answer.serializeBinary());
}

export function streamNotFound(stream: string): Buffer {
  const answer = new messages.ReadResp();
  const missing = new messages.ReadResp.StreamNotFound();
  missing.setStreamIdentifier(identifier(stream));
  answer.setStreamNotFound(missing);
  return Buffer.from(answer.serializeBinary());
}
