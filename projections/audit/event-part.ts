import { isOfObject, placeOf } from '../../src/read/event-place.ts';
import { must } from '../../src/base/unreachable.ts';
import { actorIn, onBehalfOfIn } from '../../src/log/event-codec.ts';
import { epochShift, logPosition, type LogIdentity, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import type { EventClause, EventIndex, EventWalk } from '../../src/read/event-index.ts';
import type { VersionReader } from '../../src/read/versions.ts';
import { isTypeKey, typeKey, type TypeKey } from '../../src/resource/type/index-entry.ts';
import type { AuditEnvironment, AuditPart } from './audit-part.ts';
import { Intersection, unionOf, type PositionCursor, type PositionOrder } from './position-cursors.ts';
import { ObjectCursor } from './object-cursor.ts';
import { Postings } from './postings.ts';

/**
 * The first characters of terms. A term is a key of this index: a character for a field, then a value of the field.
 * Types of objects and categories of streams have different characters, so that the types of objects can be enumerated.
 */
const objectType = 't';
const category = 'c';
const name = 'n';
const actor = 'a';
const onBehalfOf = 'o';

/** The maximum number of objects (pairs of type and name) that a condition on names looks up. */
const objectsSoughtMax = 256;

type Walk = {
  readonly types: readonly TypeKey[];
  readonly order: PositionOrder;
  readonly head: LogPosition;
};

type EventPartOptions = {
  /** The version index, at the same position as this index. */
  readonly versions: VersionReader;
  readonly identity: () => Pick<LogIdentity, 'epoch'>;
};

/**
 * The index of the audit stream: the positions of events by type, name, actor and `onBehalfOf`. The positions of an
 * object's events come from the version index, because a term for each object would need too much space.
 */
export class EventPart implements AuditPart, EventIndex {
  readonly name = 'events';
  readonly format = 2;
  readonly #versions: VersionReader;
  readonly #identity: EventPartOptions['identity'];
  #postings: Postings | undefined;
  /** The types of objects in the last commit; undefined until `#knownTypes` reads the types from the tables. */
  #types: Set<string> | undefined;
  /** The types of objects in the open batch. */
  readonly #newTypes = new Set<string>();

  constructor({ versions, identity }: EventPartOptions) {
    this.#versions = versions;
    this.#identity = identity;
  }

  open(environment: AuditEnvironment): void {
    this.#postings = new Postings({
      tails: environment.openTable('tails', { encoding: 'binary' }),
      blocks: environment.openBinaryTable('blocks', { encoding: 'binary' }),
    });
  }

  add(recorded: RecordedEvent, within: number): number {
    const postings = this.#opened();
    const place = placeOf(recorded.stream);
    let bytes = postings.add(actor, actorIn(recorded), within);
    const user = onBehalfOfIn(recorded);
    if (user !== undefined) bytes += postings.add(onBehalfOf, user, within);
    if (isOfObject(place)) {
      this.#newTypes.add(place.type);
      return bytes + postings.add(objectType, place.type, within);
    }
    return bytes + postings.add(category, place.type, within) + postings.add(name, place.name, within);
  }

  write(): void {
    this.#opened().flush();
  }

  committed(): void {
    for (const type of this.#newTypes) this.#types?.add(type);
    this.#newTypes.clear();
  }

  rolledBack(): void {
    this.#opened().forget();
    this.#newTypes.clear();
  }

  cleared(): void {
    this.rolledBack();
    this.#types = undefined;
  }

  walk(
    clauses: readonly EventClause[],
    { order, head }: { readonly order: PositionOrder; readonly head: LogPosition },
  ): EventWalk | undefined {
    const shift = this.#shift();
    const options = { types: this.#typesIn(clauses), order, head };
    const indexed = clauses
      .map((clause) => this.#cursorsOf(clause, options))
      .filter((cursors) => cursors !== undefined);
    if (indexed.length === 0) return undefined;
    const common = new Intersection(
      indexed.map((cursors) =>
        unionOf(
          cursors.filter(({ size }) => size > 0),
          order,
        ),
      ),
    );
    return {
      step: (from) => {
        const next = common.step(from < shift ? 0 : Number(from - shift));
        return next && { found: next.found, at: logPosition(shift + BigInt(next.at)) };
      },
    };
  }

  before(place: LogPosition): LogPosition | undefined {
    const within = this.#within(place);
    return within === 0 ? undefined : this.#nearest(within - 1, 'newest');
  }

  after(place: LogPosition): LogPosition | undefined {
    return this.#nearest(this.#within(place) + 1, 'oldest');
  }

  objectTypes(): readonly string[] {
    return [...this.#knownTypes()].sort();
  }

  #knownTypes(): Set<string> {
    return (this.#types ??= new Set(
      this.#opened()
        .terms(objectType)
        .map((term) => term.slice(1)),
    ));
  }

  /**
   * Returns the position of the first event, in the given order, at `within` or after it. Each event has a type or a
   * category, and there are few types and categories.
   */
  #nearest(within: number, order: PositionOrder): LogPosition | undefined {
    const postings = this.#opened();
    const terms = [objectType, category].flatMap((prefix) => postings.terms(prefix));
    const found = unionOf(
      terms.map((term) => postings.cursor(term, order)),
      order,
    ).seek(within);
    return found === undefined ? undefined : logPosition(this.#shift() + BigInt(found));
  }

  /**
   * Returns cursors over the events that meet the condition. Returns undefined for a condition with too many names,
   * because looking up each name in each type takes longer than reading the events.
   */
  #cursorsOf({ field, values }: EventClause, walk: Walk): readonly PositionCursor[] | undefined {
    const postings = this.#opened();
    const { order, types } = walk;
    if (field !== 'name')
      return values.flatMap((value) => termsOf(field, value)).map((term) => postings.cursor(term, order));
    if (values.length * types.length > objectsSoughtMax) return undefined;
    const shift = this.#shift();
    return values.flatMap((value) => [
      postings.cursor(`${name}${value}`, order),
      ...types.map((type) => new ObjectCursor(this.#versions, { ...walk, type, name: value, shift })),
    ]);
  }

  /**
   * The types of objects with events that the conditions on `type` allow. Without a condition on `type`, all types with
   * events.
   */
  #typesIn(clauses: readonly EventClause[]): readonly TypeKey[] {
    const known = this.#knownTypes();
    const wanted = clauses.find(({ field }) => field === 'type')?.values ?? [...known];
    return wanted.filter((type) => known.has(type) && isTypeKey(type)).map(typeKey);
  }

  /**
   * The position within the epoch; 0 for a position of an earlier epoch. A position within an epoch is far less than
   * 2^53.
   */
  #within(position: LogPosition): number {
    const shift = this.#shift();
    return position < shift ? 0 : Number(position - shift);
  }

  #shift(): bigint {
    return epochShift(this.#identity().epoch);
  }

  #opened(): Postings {
    return must(this.#postings, 'an audit part is opened before it is used');
  }
}

/**
 * By the field of a condition: the first characters of the terms to search. A condition on `type` names a type of
 * objects or a category of streams.
 */
const termsOfField = {
  type: [objectType, category],
  actor: [actor],
  onBehalfOf: [onBehalfOf],
  user: [actor, onBehalfOf],
} as const;

function termsOf(field: keyof typeof termsOfField, value: string): readonly string[] {
  return termsOfField[field].map((character) => `${character}${value}`);
}
