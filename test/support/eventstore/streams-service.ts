import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import services from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata } from '@grpc/grpc-js';
import type {
  sendUnaryData,
  Server,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';

import { appendAnswer, appendBytesMax, batchAnswer } from './answers.ts';
import type { BatchOutcome } from './answers.ts';
import { notReady, unavailable } from './faults.ts';
import type { AppendFault, Faults, Phase, Refusal } from './faults.ts';
import { CallFailure, Reader } from './reads.ts';
import type { ReadCall } from './reads.ts';
import { decodeAppendRequest, decodeBatchRequest, expectedOf } from './requests.ts';
import type { AppendRequest, BatchRequest } from './requests.ts';
import type { Decision, Expected, ServerLog } from './server-log.ts';
import type { Proposed } from './stored-event.ts';

/** The parts of the server that the service needs. */
export type Surroundings = {
  readonly faults: Faults;
  readonly phase: () => Phase;
  readonly address: () => { readonly host: string; readonly port: number };
  /** `user:password` if the server requires credentials. */
  readonly credentials: string | undefined;
  /** Ends every connection without a message. */
  readonly dropConnections: () => void;
  readonly nextAppend: () => number;
};

type Append = { readonly stream: string; readonly expected: Expected; readonly events: readonly Proposed[] };
type Written = (Decision | { readonly kind: 'too-large' } | { readonly kind: 'unready' }) & {
  readonly twice?: boolean;
};
type BatchCall = ServerDuplexStream<BatchRequest, Buffer>;

const never = new Promise<never>(() => undefined);

export class StreamsService {
  readonly #log: ServerLog;
  readonly #around: Surroundings;
  readonly #readers = new Set<Reader>();
  readonly #batches = new Set<BatchCall>();

  constructor(log: ServerLog, around: Surroundings) {
    this.#log = log;
    this.#around = around;
    log.onGrown(() => {
      this.wakeReaders();
    });
  }

  addTo(server: Server): void {
    const identity = (bytes: Buffer): Buffer => bytes;
    const { read, append, batchAppend } = services.StreamsService;
    // The messages with events are encoded and decoded by hand; the generated code handles all others.
    server.addService(
      {
        ...services.StreamsService,
        read: { ...read, responseSerialize: identity },
        append: { ...append, requestDeserialize: decodeAppendRequest },
        batchAppend: { ...batchAppend, requestDeserialize: decodeBatchRequest, responseSerialize: identity },
      },
      {
        read: (call: ReadCall) => {
          void this.#read(call);
        },
        append: (
          call: ServerReadableStream<AppendRequest, messages.AppendResp>,
          answer: sendUnaryData<messages.AppendResp>,
        ) => {
          this.#append(call, answer);
        },
        batchAppend: (call: BatchCall) => {
          this.#batchAppend(call);
        },
        delete: (
          call: ServerUnaryCall<messages.DeleteReq, messages.DeleteResp>,
          answer: sendUnaryData<messages.DeleteResp>,
        ) => {
          void this.#answer(call, answer, () => this.#delete(call.request));
        },
        tombstone: (
          call: ServerUnaryCall<messages.TombstoneReq, messages.TombstoneResp>,
          answer: sendUnaryData<messages.TombstoneResp>,
        ) => {
          void this.#answer(call, answer, () => this.#tombstone(call.request));
        },
      } satisfies UntypedServiceImplementation,
    );
    server.addService(features.ServerFeaturesService, {
      getSupportedMethods: (
        call: ServerUnaryCall<shared.Empty, featureMessages.SupportedMethods>,
        answer: sendUnaryData<featureMessages.SupportedMethods>,
      ) => {
        void this.#answer(call, answer, () => Promise.resolve(supportedMethods()), true);
      },
    } satisfies UntypedServiceImplementation);
    server.addService(gossip.GossipService, {
      read: (
        call: ServerUnaryCall<shared.Empty, gossipMessages.ClusterInfo>,
        answer: sendUnaryData<gossipMessages.ClusterInfo>,
      ) => {
        void this.#answer(call, answer, () => Promise.resolve(this.#gossip()), true);
      },
    } satisfies UntypedServiceImplementation);
  }

  wakeReaders(): void {
    for (const reader of this.#readers) reader.wake();
  }

  /** Ends all reads with a status; without a status they end as if they were complete. */
  endReaders(refusal: Refusal | undefined): void {
    for (const reader of this.#readers) reader.end(refusal);
  }

  /** Ends the streams of batch appends: the client rejects all pending appends, although some may be written. */
  rejectInFlight({ code, details, metadata = {} }: Refusal): void {
    for (const call of this.#batches) call.emit('error', statusOf(new CallFailure(code, details, metadata)));
  }

  async #read(call: ReadCall): Promise<void> {
    const options = call.request.getOptions();
    const stream =
      options?.hasAll() === true
        ? '$all'
        : Buffer.from(options?.getStream()?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const asked = {
      stream,
      subscription: options?.hasSubscription() === true,
      backwards: options?.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS,
    };
    const reader = new Reader(call, this.#log, this.#around.faults, this.#around.faults.read?.(asked));
    this.#readers.add(reader);
    try {
      this.#admit(call.metadata, true);
      await reader.read();
      call.end();
    } catch (error) {
      call.emit('error', statusOf(error));
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** Refuses wrong credentials, and every call in the phases before `ready`. */
  #admit(metadata: Metadata, reads: boolean): void {
    const phase = this.#around.phase();
    const refusal = phase === 'unavailable' ? unavailable : phase === 'not-ready' && reads ? notReady : undefined;
    if (refusal !== undefined) throw new CallFailure(refusal.code, refusal.details);
    const { credentials } = this.#around;
    if (credentials === undefined) return;
    const [given] = metadata.get('authorization');
    if (given === undefined) throw new CallFailure(7, 'Access Denied', { exception: 'access-denied' });
    if (given !== `Basic ${Buffer.from(credentials).toString('base64')}`) throw new CallFailure(16, 'Unauthenticated');
  }

  #append(
    call: ServerReadableStream<AppendRequest, messages.AppendResp>,
    answer: sendUnaryData<messages.AppendResp>,
  ): void {
    let append: Append = { stream: '', expected: 'any', events: [] };
    call.on('data', (request: AppendRequest) => {
      append =
        request.kind === 'options'
          ? { ...append, ...request }
          : { ...append, events: [...append.events, request.event] };
    });
    call.on('error', () => undefined);
    call.on('end', () => {
      void this.#answer(call, answer, async () => {
        const outcome = await this.#write(append, false);
        if (outcome.kind === 'appended' || outcome.kind === 'wrong-version')
          return appendAnswer(outcome, append.expected);
        if (outcome.kind === 'deleted') throw deleted(append.stream);
        throw new CallFailure(3, `Maximum Append Size of ${appendBytesMax.toString()} Exceeded.`, {
          exception: 'maximum-append-size-exceeded',
          'maximum-append-size': appendBytesMax.toString(),
        });
      });
    });
  }

  /**
   * Writes an append with the fault that applies to it. If the fault suppresses the response, the promise never
   * resolves.
   */
  async #write(append: Append, batched: boolean): Promise<Written> {
    const { faults, dropConnections, nextAppend } = this.#around;
    const { stream, events, expected } = append;
    if (
      events.reduce((sum, { data, metadata, type }) => sum + data.length + metadata.length + type.length, 0) >
      appendBytesMax
    )
      return { kind: 'too-large' };
    const fault = faults.append?.({ stream, ids: events.map(({ id }) => id), batched, number: nextAppend() });
    if (fault?.kind === 'unready') return { kind: 'unready' };
    if (fault?.kind === 'drop-before') return dropped(dropConnections);
    if (fault?.kind === 'no-answer' && !fault.written) return never;
    if (fault?.kind === 'refuse' && fault.written !== true) throw failureOf(fault.refusal);
    if (fault?.kind === 'late-write') await elapsed(fault.ms);
    const decision = await this.#log.append(stream, events, expected, faults.earlyConflicts);
    return this.#afterWrite(decision, fault);
  }

  async #afterWrite(decision: Decision, fault: AppendFault | undefined): Promise<Written> {
    if (fault?.kind === 'drop-after') return dropped(this.#around.dropConnections);
    if (fault?.kind === 'no-answer') return never;
    if (fault?.kind === 'refuse') throw failureOf(fault.refusal);
    if (fault?.kind === 'late-answer') await elapsed(fault.ms);
    return fault?.kind === 'twice' ? { ...decision, twice: true } : decision;
  }

  #batchAppend(call: BatchCall): void {
    this.#batches.add(call);
    const unfinished = new Map<string, { readonly append: Append; readonly deadlineMs: number }>();
    let admitted: unknown;
    try {
      this.#admit(call.metadata, false);
    } catch (error) {
      admitted = error;
    }
    const refused = admitted instanceof CallFailure ? admitted : undefined;
    if (refused !== undefined && refused.code !== 7) {
      call.emit('error', statusOf(refused));
      return;
    }
    call.on('data', (request: BatchRequest) => {
      const { correlation, target, final } = request;
      const known =
        target === undefined
          ? unfinished.get(correlation)
          : { append: { stream: target.stream, expected: target.expected, events: [] }, deadlineMs: target.deadlineMs };
      if (known === undefined) return;
      const gathered = { ...known, append: { ...known.append, events: [...known.append.events, ...request.events] } };
      if (!final) {
        unfinished.set(correlation, gathered);
        return;
      }
      unfinished.delete(correlation);
      void this.#batched(call, correlation, gathered, refused !== undefined);
    });
    const over = (): void => {
      this.#batches.delete(call);
    };
    call.on('end', () => {
      over();
      call.end();
    });
    call.on('error', over);
    call.on('cancelled', over);
  }

  async #batched(
    call: BatchCall,
    correlation: string,
    { append, deadlineMs }: { readonly append: Append; readonly deadlineMs: number },
    denied: boolean,
  ): Promise<void> {
    let outcome: BatchOutcome & { readonly twice?: boolean };
    try {
      if (denied) outcome = { kind: 'denied' };
      else if (this.#around.phase() === 'not-ready') outcome = { kind: 'unready' };
      else if (deadlineMs < Date.now()) outcome = { kind: 'late' };
      else outcome = await this.#write(append, true);
    } catch (error) {
      if (!call.cancelled) call.emit('error', statusOf(error));
      return;
    }
    if (!this.#batches.has(call)) return;
    const bytes = batchAnswer(correlation, append.stream, outcome, append.expected);
    call.write(bytes);
    if (outcome.twice === true) call.write(bytes);
  }

  /**
   * Responds to a call with the result of `ask`, or with the status of its error. `open`: no credentials are required.
   */
  async #answer<T>(
    call: { readonly metadata: Metadata },
    answer: sendUnaryData<T>,
    ask: () => Promise<T>,
    open = false,
  ): Promise<void> {
    try {
      if (open && this.#around.phase() === 'unavailable') throw failureOf(unavailable);
      if (!open) this.#admit(call.metadata, true);
      answer(null, await ask());
    } catch (error) {
      answer(statusOf(error));
    }
  }

  async #delete(request: messages.DeleteReq): Promise<messages.DeleteResp> {
    const options = request.getOptions();
    const position = await this.#deleted(
      Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
      expectedOf(options),
      false,
    );
    const answer = new messages.DeleteResp();
    const at = new messages.DeleteResp.Position();
    at.setCommitPosition(position.toString());
    at.setPreparePosition(position.toString());
    answer.setPosition(at);
    return answer;
  }

  async #tombstone(request: messages.TombstoneReq): Promise<messages.TombstoneResp> {
    const options = request.getOptions();
    const position = await this.#deleted(
      Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
      expectedOf(options),
      true,
    );
    const answer = new messages.TombstoneResp();
    const at = new messages.TombstoneResp.Position();
    at.setCommitPosition(position.toString());
    at.setPreparePosition(position.toString());
    answer.setPosition(at);
    return answer;
  }

  async #deleted(stream: string, expected: Expected, tombstone: boolean): Promise<number> {
    const decision = await this.#log.delete(stream, expected, tombstone);
    if (decision.kind === 'deleted') throw deleted(stream);
    if (decision.kind === 'appended') return decision.position ?? 0;
    throw new CallFailure(9, `Delete failed due to WrongExpectedVersion. Stream: ${stream}`, {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': expected === 'no_stream' ? '-1' : expected.toString(),
      'actual-version': (decision.actual ?? -1).toString(),
    });
  }

  #gossip(): gossipMessages.ClusterInfo {
    const { host, port } = this.#around.address();
    const member = new gossipMessages.MemberInfo();
    const id = new shared.UUID();
    id.setString('00000000-0000-4000-8000-000000000001');
    member.setInstanceId(id);
    member.setTimeStamp((Date.now() * 10_000).toString());
    member.setState(gossipMessages.MemberInfo.VNodeState.LEADER);
    member.setIsAlive(true);
    const end = new gossipMessages.EndPoint();
    end.setAddress(host);
    end.setPort(port);
    member.setHttpEndPoint(end);
    const cluster = new gossipMessages.ClusterInfo();
    cluster.addMembers(member);
    return cluster;
  }
}

function supportedMethods(): featureMessages.SupportedMethods {
  const supported = new featureMessages.SupportedMethods();
  supported.setEventStoreServerVersion('23.10.0.0');
  for (const name of ['read', 'append', 'delete', 'tombstone', 'batchappend']) {
    const method = new featureMessages.SupportedMethod();
    method.setServiceName('event_store.client.streams.streams');
    method.setMethodName(name);
    supported.addMethods(method);
  }
  return supported;
}

function deleted(stream: string): CallFailure {
  return new CallFailure(9, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
}

function failureOf({ code, details, metadata }: Refusal): CallFailure {
  return new CallFailure(code, details, metadata);
}

function statusOf(
  error: unknown,
): Error & { readonly code: number; readonly details: string; readonly metadata: Metadata } {
  const failure =
    error instanceof CallFailure ? error : new CallFailure(2, `Exception was thrown by handler: ${String(error)}`);
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(failure.metadata)) metadata.set(key, value);
  return Object.assign(new Error(failure.message), { code: failure.code, details: failure.message, metadata });
}

function dropped(dropConnections: () => void): Promise<never> {
  dropConnections();
  return never;
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
