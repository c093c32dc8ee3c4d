import { test } from 'tap';

import { hexHash, isLeafStream, leafEntry, leafOf } from '../../../src/audit/proof/leaf-entry.ts';
import { leafHash } from '../../../src/audit/proof/merkle.ts';
import { driverEvents, storedRecord } from '../../../src/log/eventstore/eventstore-record.ts';

const event = {
  stream: 'object:widgets.example.com/lampe-ä',
  revision: 3,
  id: '6f6c1b1e-9a43-4b7c-8d2f-0a4f6a3b5c11',
  type: 'ObjectUpdated',
  metadata: Buffer.from('{"schema":1,"time":"2026-01-01T00:00:00.000Z"}'),
  data: Buffer.from('{"values":[],"object":{}}'),
};

test('an entry names the stream, the revision, the event and the hashes of its bytes', async (t) => {
  t.equal(
    leafEntry(event).toString(),
    '[1,"object:widgets.example.com/lampe-ä",3,"6f6c1b1e-9a43-4b7c-8d2f-0a4f6a3b5c11","ObjectUpdated",' +
      '"667945b60e15d7e594549b75aecfc300d2ee2133e01f6f89600ab75cd3c8f637",' +
      '"c05794299c6a30d92802c5226c12a4a93d349b6388288ac4e7acf94ffc14deff"]',
  );
});

test('the hash of the data does for the data', async (t) => {
  t.strictSame(leafOf({ ...event, data: { sha256: hexHash(event.data) } }), leafOf(event));
  t.strictSame(leafOf(event), leafHash(leafEntry(event)));
  t.strictSame(leafOf({ ...event, data: event.data.toString(), metadata: event.metadata.toString() }), leafOf(event));
});

test('leases, keys and the founding of a log are no leaves', async (t) => {
  const streams = ['lease:node/1', 'key:1', 'platform:log', 'platform:logs', 'platform:keys', 'secret:1', 'object:a/b'];
  t.strictSame(streams.filter(isLeafStream), ['platform:logs', 'platform:keys', 'secret:1', 'object:a/b']);
});

test('an event has the same leaf in either log, in an append of several too', async (t) => {
  for (const count of [1, 2, 3])
    for (const metadata of [event.metadata, Buffer.from('{}'), Buffer.from('no JSON')]) {
      const proposed = { id: event.id, type: event.type, data: event.data, metadata };
      const stored = driverEvents(Array.from({ length: count }, () => proposed)).map((written) => written as never);
      for (const raw of stored as readonly { readonly data: Uint8Array; readonly metadata: Uint8Array }[]) {
        const streamId = `platform-${event.stream}`;
        const place = { commit: 1n, prepare: 1n, createdMs: 0, isBytes: true, revision: event.revision };
        const read = storedRecord('platform-', { ...place, ...raw, streamId, id: event.id, type: event.type });
        t.strictSame(read === undefined ? undefined : leafOf(read.event), leafOf({ ...event, metadata }));
      }
    }
});
