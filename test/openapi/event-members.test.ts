/** The schemas of a history and of the audit stream have the members of the answers, and no others. */
import { test } from 'tap';

import { EventObjects, historyEntry } from '../../src/audit/history-entry.ts';
import { shownChange } from '../../src/audit/stream/event-item.ts';
import type { Steps } from '../../src/base/steps.ts';
import type { EventMetadata } from '../../src/command/event.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';
import { standardSchemas } from '../../src/openapi/standard-schemas.ts';

/** Metadata with every member that an event can have. */
const metadata: Required<EventMetadata> = {
  actor: 'plugin:content',
  onBehalfOf: 'jane',
  token: 'laptop',
  verb: 'create',
  requestId: 'r',
  address: '192.0.2.1',
  userAgent: 'a browser',
  traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  restoredFrom: '3',
  plugin: 'content',
  time: '2026-01-01T00:00:00.000Z',
  schema: 1,
  $correlationId: 'r',
  $causationId: 'c',
  declared: 1,
};

const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'lamp', uid: 'u', version: 0 } };

function recorded(stream: string, type: string, data: object): RecordedEvent {
  return {
    id: 'e',
    type,
    stream: streamName(stream),
    revision: streamRevision(0),
    position: logPosition(1n),
    endsAppend: true,
    data: Buffer.from(JSON.stringify(data)),
    metadata: Buffer.from(JSON.stringify(metadata)),
  };
}

const created = recorded('object:widgets.example.com/lamp', 'ObjectCreated', { values: [], object });
const secret = recorded('secret:u', 'PasswordSet', { hash: 'h' });

function membersOf(steps: Steps<Buffer | undefined>): readonly string[] {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return Object.keys(JSON.parse(String(step.value)) as object);
}

function schemaOf(name: string): { readonly properties: readonly string[]; readonly required: readonly string[] } {
  const { properties, required } = standardSchemas.get(name) as Readonly<Record<string, object>>;
  return { properties: Object.keys(properties ?? {}), required: required as readonly string[] };
}

const sorted = (members: Iterable<string>): readonly string[] => [...members].sort();

test('an entry of a history has the members of its schema', async (t) => {
  const pair = { event: created, previous: undefined };
  const shown = membersOf(historyEntry(pair, { objects: new EventObjects(), withObject: true }));
  const { properties, required } = schemaOf('HistoryEntry');
  t.strictSame(sorted(properties), sorted(shown));
  t.strictSame(
    required.filter((member) => !shown.includes(member)),
    [],
  );
});

test('an event of the audit stream has the members of its schema', async (t) => {
  const parts = { object: true, change: true, data: true };
  const [ofObject, ofSecret] = [created, secret].map((event) =>
    membersOf(shownChange({ event, previous: undefined }, 'audit.svc.run/v1alpha1', parts)),
  );
  const { properties, required } = schemaOf('AuditEvent');
  t.strictSame(sorted(properties), sorted(new Set([...(ofObject ?? []), ...(ofSecret ?? [])])));
  for (const shown of [ofObject, ofSecret])
    t.strictSame(
      required.filter((member) => shown?.includes(member) !== true),
      [],
    );
});
