/** Our own reader of the protocol against the driver's. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { test } from 'tap';

import { isStrayAppendReply } from '../../../src/log/eventstore/eventstore-stray.ts';
import { decodeAnswer } from '../../../src/log/eventstore/eventstore-wire.ts';

const seed = Number(process.env['PBT_SEED'] ?? 20_260_401);
const numRuns = Number(process.env['PBT_RUNS'] ?? 200);

const uint64 = fc.bigInt({ min: 0n, max: 0x7fff_ffff_ffff_ffffn });
const someEvent = fc.record({
  id: fc.uuid(),
  structured: fc.boolean(),
  stream: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }),
  revision: fc.nat(2 ** 31 - 1),
  commit: uint64,
  prepare: uint64,
  type: fc.string({ unit: 'grapheme', maxLength: 40 }),
  isBytes: fc.boolean(),
  data: fc.uint8Array({ maxLength: 2_000 }),
  metadata: fc.uint8Array({ maxLength: 300 }),
});
type SomeEvent = typeof someEvent extends fc.Arbitrary<infer Event> ? Event : never;

function idOf({ id, structured }: SomeEvent): shared.UUID {
  const uuid = new shared.UUID();
  if (!structured) {
    uuid.setString(id);
    return uuid;
  }
  const hex = id.replaceAll('-', '');
  const halves = new shared.UUID.Structured();
  halves.setMostSignificantBits(BigInt.asIntN(64, BigInt(`0x${hex.slice(0, 16)}`)).toString());
  halves.setLeastSignificantBits(BigInt.asIntN(64, BigInt(`0x${hex.slice(16)}`)).toString());
  uuid.setStructured(halves);
  return uuid;
}

function messageOf(event: SomeEvent): Buffer {
  const recorded = new messages.ReadResp.ReadEvent.RecordedEvent();
  const stream = new shared.StreamIdentifier();
  stream.setStreamName(new Uint8Array(Buffer.from(event.stream)));
  recorded.setId(idOf(event));
  recorded.setStreamIdentifier(stream);
  recorded.setStreamRevision(event.revision.toString());
  recorded.setCommitPosition(event.commit.toString());
  recorded.setPreparePosition(event.prepare.toString());
  recorded.getMetadataMap().set('type', event.type);
  recorded.getMetadataMap().set('content-type', event.isBytes ? 'application/octet-stream' : 'application/json');
  recorded.getMetadataMap().set('created', '17000000000000000');
  recorded.setCustomMetadata(event.metadata);
  recorded.setData(event.data);
  const resolved = new messages.ReadResp.ReadEvent();
  resolved.setEvent(recorded);
  resolved.setCommitPosition(event.commit.toString());
  const response = new messages.ReadResp();
  response.setEvent(resolved);
  return Buffer.from(response.serializeBinary());
}

test("a decoded event equals the driver's", async (t) => {
  fc.assert(
    fc.property(someEvent, (event) => {
      const answer = decodeAnswer(messageOf(event));
      if (typeof answer === 'string') throw new Error(answer);
      const { data, metadata, ...rest } = answer;
      t.same(rest, {
        streamId: Buffer.from(event.stream).toString(),
        id: event.id,
        revision: event.revision,
        type: Buffer.from(event.type).toString(),
        isBytes: event.isBytes,
        commit: event.commit,
        prepare: event.prepare,
        createdMs: 1_700_000_000_000,
      });
      t.ok(Buffer.from(data).equals(event.data) && Buffer.from(metadata).equals(event.metadata));
    }),
    { seed, numRuns },
  );
});

test('truncated or invented bytes throw a RangeError, or decode to another message', async (t) => {
  fc.assert(
    fc.property(someEvent, fc.nat(), fc.uint8Array({ maxLength: 60 }), (event, at, noise) => {
      const whole = messageOf(event);
      for (const bytes of [whole.subarray(0, at % whole.length), Buffer.from(noise)]) {
        try {
          decodeAnswer(bytes);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
        }
      }
    }),
    { seed, numRuns },
  );
  t.pass();
});

test('the other messages of a subscription decode', async (t) => {
  const confirmed = new messages.ReadResp();
  const confirmation = new messages.ReadResp.SubscriptionConfirmation();
  confirmation.setSubscriptionId('a');
  confirmed.setConfirmation(confirmation);
  t.equal(decodeAnswer(Buffer.from(confirmed.serializeBinary())), 'confirmed');
  const caughtUp = new messages.ReadResp();
  caughtUp.setCaughtUp(new messages.ReadResp.CaughtUp());
  t.equal(decodeAnswer(Buffer.from(caughtUp.serializeBinary())), 'other');
  t.equal(decodeAnswer(Buffer.alloc(0)), 'other');
});

test('a stray reply is recognized only by the code that throws it', async (t) => {
  const listener = '/app/node_modules/@eventstore/db-client/dist/streams/appendToStream/batchAppend.js:20:35';
  const withStack = (error: Error, ...frames: readonly string[]): Error => {
    error.stack = [`${error.name}: ${error.message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n');
    return error;
  };
  const thrown = new TypeError('promiseBank.get is not a function or its return value is not iterable');
  t.ok(
    isStrayAppendReply(
      withStack(thrown, `ClientDuplexStreamImpl.<anonymous> (${listener})`, 'emit (node:events:518:28)'),
    ),
  );
  t.ok(
    isStrayAppendReply(
      withStack(
        new TypeError('on Windows'),
        'x (C:\\app\\node_modules\\@eventstore\\db-client\\dist\\streams\\appendToStream\\batchAppend.js:20:35)',
      ),
    ),
  );
  t.notOk(
    isStrayAppendReply(withStack(new TypeError('ours'), 'fold (/app/dist/src/follow-log.js:1:1)', `x (${listener})`)),
    'thrown by somebody it called',
  );
  t.notOk(isStrayAppendReply(withStack(new RangeError('another'), `x (${listener})`)));
  const status = Object.assign(new Error('14 UNAVAILABLE: Connection dropped'), {
    code: 14,
    details: 'Connection dropped',
  });
  t.ok(
    isStrayAppendReply(
      withStack(
        status,
        'callErrorFromStatus (/app/node_modules/@grpc/grpc-js/build/src/call.js:32:19)',
        `batchAppend (${listener})`,
      ),
    ),
  );
  t.notOk(
    isStrayAppendReply(
      withStack(status, 'callErrorFromStatus (/app/node_modules/@grpc/grpc-js/build/src/call.js:32:19)'),
    ),
    'of another call',
  );
  for (const other of [undefined, null, 'promiseBank', { stack: listener }, new Error('plain')])
    t.notOk(isStrayAppendReply(other));
});
