/** Pages of the audit stream against a plain filter of the log, over the real indexes: random logs and conditions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { test } from 'tap';

import { AuditModels, auditedCategories } from '../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { EventPart } from '../../../projections/audit/event-part.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import { Slices } from '../../../src/base/slices.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { readEvents, type EventsRequest } from '../../../src/audit/stream/read-events.ts';
import { decodeEventSelector } from '../../../src/http/audit/decode-events-query.ts';
import { epochShift, logPosition, streamName, streamRevision, type RecordedEvent } from '../../../src/log/log.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

const streams = [
  'object:widgets.example.com/lamp',
  'object:widgets.example.com/bulb',
  'object:users/jane',
  'object:users/lamp',
  'secret:jane-uid',
  'claim:widgets.example.com/spec.slug/1',
  'access:node-1',
  'platform:log',
];
const actors = ['jane', 'joe', 'system:collector', 'a "quoted" name', 'plugin:p'];
/** The actor `plugin:p` writes for one of these, or for none. */
const users = ['jane', 'a "quoted" name', undefined];
const verbs = ['create', 'patch'];

type Drawn = {
  readonly stream: number;
  readonly actor: number;
  readonly user: number;
  readonly verb: number;
  readonly gap: number;
};

const drawnLog = fc.array(
  fc.record({
    stream: fc.nat(7),
    actor: fc.nat(4),
    user: fc.nat(2),
    verb: fc.nat(1),
    gap: fc.integer({ min: 1, max: 900 }),
  }),
  { maxLength: 80 },
);

function logOf(drawn: readonly Drawn[], epoch: number): readonly RecordedEvent[] {
  const revisions = new Map<string, number>();
  let position = epochShift(epoch);
  return drawn.map(({ stream: place, actor, user, verb, gap }, index) => {
    const stream = streams[place] ?? '';
    const revision = revisions.get(stream) ?? 0;
    revisions.set(stream, revision + 1);
    position += BigInt(gap);
    const request = { verb: verbs[verb], requestId: `r${String(index % 5)}` };
    const onBehalfOf = actors[actor] === 'plugin:p' ? users[user] : undefined;
    const metadata = { actor: actors[actor], onBehalfOf, ...request, time: '2026-01-01T00:00:00.000Z', schema: 1 };
    const object = { metadata: { name: 'n', uid: `uid-${String(revision % 2)}` } };
    const isObject = stream.startsWith('object:');
    return {
      id: idOf(`event ${String(index)}`),
      type: isObject ? 'ObjectUpdated' : 'AccessRecorded',
      data: Buffer.from(JSON.stringify(isObject ? { values: [], object } : {})),
      metadata: Buffer.from(JSON.stringify({ ...metadata, $correlationId: request.requestId })),
      stream: streamName(stream),
      revision: streamRevision(revision),
      position: logPosition(position),
      endsAppend: true,
    };
  });
}

/** A condition as text, and as a plain test. */
type Condition = { readonly text: string; readonly holds: (event: RecordedEvent) => boolean };

function member(event: RecordedEvent, name: string): unknown {
  return (JSON.parse(Buffer.from(event.metadata).toString()) as Readonly<Record<string, unknown>>)[name];
}

function usersOf(event: RecordedEvent, field: string): readonly unknown[] {
  const onBehalfOf = member(event, 'onBehalfOf');
  return field === 'user' ? [member(event, 'actor'), onBehalfOf] : [onBehalfOf];
}

function typeOf({ stream }: RecordedEvent): string {
  return /^object:([^/]*)/u.exec(stream)?.[1] ?? stream.split(':')[0] ?? '';
}

function nameOf({ stream }: RecordedEvent): string {
  return stream.startsWith('object:') ? stream.slice(stream.indexOf('/') + 1) : stream.slice(stream.indexOf(':') + 1);
}

const types = ['widgets.example.com', 'users', 'secret', 'claim', 'nothing.example.com'];
const names = ['lamp', 'bulb', 'jane', 'node-1', 'nobody'];

const conditions: fc.Arbitrary<Condition> = fc.oneof(
  fc.subarray(types, { minLength: 1 }).map((some) => ({
    text: `type in (${some.join(',')})`,
    holds: (event: RecordedEvent) => some.includes(typeOf(event)),
  })),
  fc.subarray(names, { minLength: 1 }).map((some) => ({
    text: `name in (${some.join(',')})`,
    holds: (event: RecordedEvent) => some.includes(nameOf(event)),
  })),
  fc.constantFrom(...actors).map((actor) => ({
    text: `actor=${actor}`,
    holds: (event: RecordedEvent) => member(event, 'actor') === actor,
  })),
  fc.constantFrom(...actors).map((actor) => ({
    text: `actor!=${actor}`,
    holds: (event: RecordedEvent) => member(event, 'actor') !== actor,
  })),
  fc.constantFrom('onBehalfOf', 'user').chain((field) =>
    fc.tuple(fc.constantFrom(...actors), fc.constantFrom('=', '!=')).map(([user, operator]) => ({
      text: `${field}${operator}${user}`,
      holds: (event: RecordedEvent) => usersOf(event, field).includes(user) === (operator === '='),
    })),
  ),
  fc.constantFrom(...verbs).map((verb) => ({
    text: `verb=${verb}`,
    holds: (event: RecordedEvent) => member(event, 'verb') === verb,
  })),
  fc.nat(4).map((request) => ({
    text: `requestId=r${String(request)}`,
    holds: (event: RecordedEvent) => member(event, 'requestId') === `r${String(request)}`,
  })),
  fc.constant({
    text: 'uid=uid-1',
    holds: ({ stream, data }: RecordedEvent) => stream.startsWith('object:') && Buffer.from(data).includes('uid-1'),
  }),
);

const query = fc.record({
  where: fc.array(conditions, { maxLength: 3 }),
  order: fc.constantFrom('oldest' as const, 'newest' as const),
  limit: fc.integer({ min: 1, max: 9 }),
  /** The ends of the range, as places in the log. */
  ends: fc.tuple(fc.nat(90), fc.nat(90)),
});

type Query = typeof query extends fc.Arbitrary<infer Drawn> ? Drawn : never;

test('all pages of a chain are the events that a plain filter of the log leaves, in both orders', async (t) => {
  const property = fc.asyncProperty(
    drawnLog,
    fc.constantFrom(0, 2),
    fc.integer({ min: 1, max: 20 }),
    fc.array(query, { minLength: 1, maxLength: 6 }),
    async (drawn, epoch, batch, queries) => {
      const events = logOf(drawn, epoch);
      const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-events-'));
      const identity = () => ({ logId: 'log', epoch });
      const versions = new VersionPart({ identity });
      const index = new EventPart({ identity, versions });
      const tables = new AuditTables(folder, [versions, index]);
      const models = new AuditModels({ tables, parts: [versions, index], identity, clock: systemClock });
      for (let from = 0; from < events.length; from += batch) models.apply(events.slice(from, from + batch));
      const log = new MemoryLog({ appends: events.map((event) => [event]) });
      const source = { log, index, categories: auditedCategories };
      for (const asked of queries) t.strictSame(await chainOf(source, events, asked), naive(events, asked));
      await tables.close();
      rmSync(folder, { recursive: true, force: true });
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

function rangeOf(events: readonly RecordedEvent[], { ends: [one, other] }: Query): readonly [bigint, bigint] {
  const at = (place: number): bigint => events[place]?.position ?? (events.at(-1)?.position ?? 0n) + 3n;
  const [first, last] = [at(one), at(other)].sort((left, right) => (left < right ? -1 : 1));
  return [first ?? 0n, last ?? 0n];
}

function naive(events: readonly RecordedEvent[], asked: Query): readonly string[] {
  const [first, last] = rangeOf(events, asked);
  const chosen = events
    .filter(({ position }) => position >= first && position <= last)
    .filter((event) => asked.where.every(({ holds }) => holds(event)))
    .map(({ id }) => id);
  return asked.order === 'oldest' ? chosen : chosen.reverse();
}

async function chainOf(
  source: Parameters<typeof readEvents>[0],
  events: readonly RecordedEvent[],
  asked: Query,
): Promise<readonly string[]> {
  const where = new URLSearchParams(asked.where.map(({ text }): [string, string] => ['fieldSelector', text]));
  const selector = decodeEventSelector(where);
  if (!selector.ok) throw new Error(selector.problem.detail);
  const [first, last] = rangeOf(events, asked).map(logPosition);
  const [begin, until] = asked.order === 'oldest' ? [first, last] : [last, first];
  const shown: string[] = [];
  const head = events.at(-1)?.position ?? logPosition(0n);
  for (let from = begin; from !== undefined && until !== undefined;) {
    const request: EventsRequest = {
      order: asked.order,
      from,
      until,
      head,
      limit: asked.limit,
      selection: selector.value.selection,
      show: async ({ id }) => Promise.resolve(Buffer.from(id)),
    };
    const page = await readEvents(source, request, new Slices(systemClock));
    shown.push(...page.items.map((item) => item.toString()));
    if (page.items.length > asked.limit) throw new Error('the page has more events than its limit');
    from = page.next;
  }
  return shown;
}
