/** Random logs of a few streams, as any versions of the program may have written them. */
import { randomUUID } from 'node:crypto';

import fc from 'fast-check';

import { eventSchema, type DomainEvent } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { streamName, streamRevision, type EventLog } from '../../src/log/log.ts';
import { widget } from '../support/given.ts';

const names = ['a', 'b', 'c'] as const;
const indexes = ['serial', 'slug'] as const;

export type Step = {
  readonly kind:
    | 'write'
    | 'mark'
    | 'delete'
    | 'fence'
    | 'declare'
    | 'enforce'
    | 'password'
    | 'token'
    | 'guard'
    | 'level'
    | 'intend'
    | 'close'
    | 'withdraw';
  readonly name: (typeof names)[number];
  readonly size: number;
  readonly held: readonly (typeof indexes)[number][];
  readonly referring: readonly (typeof indexes)[number][];
  /** The revision of the declaration that decided the event; 0 or more. */
  readonly declared: number | undefined;
  /** The declaration's version of the keys. */
  readonly keys: string;
};

export const drawnSteps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(
      ...(['write', 'write', 'write', 'mark', 'delete', 'fence', 'declare', 'enforce'] as const),
      ...(['password', 'token', 'guard', 'level'] as const),
      ...(['intend', 'close', 'withdraw'] as const),
    ),
    name: fc.constantFrom(...names),
    size: fc.integer({ min: 0, max: 9 }),
    held: fc.subarray([...indexes]),
    referring: fc.subarray([...indexes]),
    declared: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    keys: fc.constantFrom('one', 'two'),
  }),
  { minLength: 10, maxLength: 40 },
);

type Live = ReturnType<typeof widget>;
type Appended = readonly DomainEvent[];

/** Appends the steps' events: of objects that are created, changed, deleted and created again under the same name. */
export class DrawnLog {
  readonly #log: EventLog;
  readonly #revisions = new Map<string, number>();
  readonly #live = new Map<string, Live>();
  #uids = 0;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async take(step: Step): Promise<void> {
    const { stream, events } = this.#eventsOf(step);
    const before = this.#revisions.get(stream);
    const encoded = events.map((event) => encodeEvent(randomUUID(), event, metadataOf(step)));
    const expected = before === undefined ? 'absent' : streamRevision(before);
    const outcome = await this.#log.append(streamName(stream), encoded, expected);
    if (!outcome.ok) throw new Error(outcome.reason);
    this.#revisions.set(stream, outcome.revision);
  }

  #eventsOf(step: Step): { readonly stream: string; readonly events: Appended } {
    const { kind, name, declared = 0, held, keys } = step;
    const uid = this.#live.get(name)?.metadata.uid ?? 'nobody';
    const unique = held.map((index) => ({ index, keys }));
    switch (kind) {
      case 'declare': {
        const declaration = { shape: keys, code: '', plugin: 'p', version: '1', versions: ['v1'], stored: 'v1' };
        return { stream: 'type:widgets.example.com', events: [{ type: 'TypeDeclared', ...declaration, unique }] };
      }
      case 'enforce':
        return {
          stream: 'unique:widgets.example.com',
          events: [{ type: 'UniqueEnforced', declared, late: 0, indexes: held }],
        };
      case 'password':
        return { stream: `secret:${uid}`, events: [{ type: 'PasswordSet', hash: `$scrypt$${keys}` }] };
      case 'token':
        return { stream: `secret:${uid}-token`, events: [{ type: 'TokenIssued', digest: keys }] };
      case 'guard':
        return { stream: 'guard:admins', events: [{ type: 'ValueClaimed', holder: name, through: 0 }] };
      case 'intend': {
        const targets = names.slice(0, 1 + (step.size % names.length)).map((target) => `widgets.example.com/${target}`);
        return {
          stream: refStream(name),
          events: [{ type: 'ReferencesIntended', targets, through: this.#through(step) }],
        };
      }
      case 'close':
        return {
          stream: `closing:widgets.example.com/${name}`,
          events: [{ type: 'DeletionIntended', through: this.#through(step) }],
        };
      case 'withdraw':
        return {
          stream: refStream(name),
          events: [{ type: 'IntentWithdrawn', revision: step.size, through: this.#through(step) }],
        };
      case 'level':
        return { stream: 'platform:level', events: [{ type: 'LevelRaised', level: 2 }] };
      default:
        return { stream: `object:widgets.example.com/${name}`, events: this.#objectEvents(kind, step) };
    }
  }

  /** The revision of the object, or one of the revisions before. */
  #through({ name, size }: Step): number {
    const revision = this.#revisions.get(`object:widgets.example.com/${name}`) ?? -1;
    return Math.max(-1, revision - (size % 3));
  }

  #objectEvents(kind: Step['kind'], { name, size, held, referring }: Step): Appended {
    const values = held.map((index) => ({ index, hash: `${index}-${String(size)}` }));
    const target = `"],"object":{${String(size)}`;
    const refs = referring.map((field) => ({ field, target, ...(size > 5 ? { uid: 'uid-1' } : {}) }));
    const live = this.#live.get(name);
    if (live === undefined && kind === 'fence') return [{ type: 'NameFenced', values: [] }];
    if (live === undefined) {
      this.#uids += 1;
      const made = this.#keep(name, widget({ metadata: { name, uid: `uid-${String(this.#uids)}` } }));
      return [{ type: 'ObjectCreated', object: made, values, refs }];
    }
    if (kind === 'fence') return [{ type: 'NameFenced', object: live, values, refs }];
    if (kind === 'write') {
      const spec = { title: `"values":[],"object":{ ${String(size)}`, size };
      return [{ type: 'ObjectUpdated', object: this.#keep(name, { ...live, spec }), values, refs }];
    }
    const metadata = { ...live.metadata, deletionTimestamp: '2026-01-02T00:00:00.000Z', finalizers: ['example.com/x'] };
    const marked = this.#keep(name, { ...live, metadata });
    const request: DomainEvent = { type: 'ObjectDeletionRequested', object: marked, values, refs };
    if (kind === 'mark') return [request];
    this.#live.delete(name);
    const deleted: DomainEvent = { type: 'ObjectDeleted', object: marked, values: [] };
    return size % 2 === 0 ? [request, deleted] : [deleted];
  }

  #keep(name: string, object: Live): Live {
    this.#live.set(name, object);
    return object;
  }
}

function metadataOf({ declared, name }: Step) {
  return {
    actor: name,
    verb: 'update',
    requestId: 'r',
    time: '2026-01-01T00:00:00.000Z',
    schema: eventSchema,
    $correlationId: 'r',
    ...(declared === undefined ? {} : { declared }),
  };
}

function refStream(name: string): string {
  return `ref:widgets.example.com/${name}`;
}
