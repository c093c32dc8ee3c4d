import { test } from 'tap';

import { eventSchema } from '../../src/command/event.ts';
import {
  actorIn,
  answerBytes,
  decodeEvent,
  encodeEvent,
  objectAnswer,
  releaseDecoded,
  requestIn,
} from '../../src/log/event-codec.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';
import { created } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';

const metadata = {
  actor: 'ann',
  verb: 'create',
  requestId: 'r1',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r1',
};
const position = logPosition(7n);

function recordedEvent(): RecordedEvent {
  const place = { stream: streamName('object:w/w1'), revision: streamRevision(0), position, endsAppend: true };
  return { ...encodeEvent(idOf('e1'), created(), metadata), ...place };
}

test('an event of this process decodes alike before and after its parsed object was released', (t) => {
  const recorded = recordedEvent();
  const before = decodeEvent(recorded);
  t.equal(decodeEvent(recorded), before, 'the object is not parsed');
  releaseDecoded(recorded);
  const after = decodeEvent(recorded);
  t.not(after, before, 'the object was released');
  t.same(after.event, before.event);
  t.same([after.objectStart, after.spliceAt], [before.objectStart, before.spliceAt]);
  t.same([actorIn(recorded), requestIn(recorded)], ['ann', 'r1'], 'the metadata is kept');
  t.end();
});

test('the answer of an event has the same bytes each time, and those of another position differ', (t) => {
  const recorded = recordedEvent();
  const decoded = decodeEvent(recorded);
  const first = answerBytes(decoded, recorded.data, '7');
  releaseDecoded(recorded);
  const expected = first.toString();
  t.match(expected, /"metadata":\{"resourceVersion":"7",/u);
  const other = objectAnswer(recorded, logPosition(8n))?.toString();
  t.equal(other, expected.replace('"resourceVersion":"7"', '"resourceVersion":"8"'));
  for (let time = 0; time < 3; time += 1) t.equal(objectAnswer(recorded, position)?.toString(), expected);
  const stored = { ...recorded, data: Uint8Array.from(recorded.data) };
  t.equal(objectAnswer(stored, position)?.toString(), expected, 'as from storage');
  t.end();
});

test('the fold and the response to the writer share the bytes of an answer', (t) => {
  const recorded = recordedEvent();
  const folded = answerBytes(decodeEvent(recorded), recorded.data, position.toString());
  t.equal(objectAnswer(recorded, position), folded);
  t.not(objectAnswer(recorded, position), folded, 'and the event does not hold them longer');
  t.end();
});
