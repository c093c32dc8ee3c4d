import type { ObjectEvent } from '../../../../src/command/event.ts';
import { streamName, type LogPosition, type StreamName } from '../../../../src/log/log.ts';
import type { ResourceObject } from '../../../../src/resource/object/object.ts';
import type { TypeKey } from '../../../../src/resource/type/index-entry.ts';
import { typeOf, type ColumnStage } from './column-stage.ts';

/** Objects of both types have the same names. */
export const plurals = ['widgets', 'gadgets'] as const;
export type Plural = (typeof plurals)[number];
export const objectSteps = ['touch', 'fence', 'mark', 'delete', 'replace'] as const;

export function keyOf(plural: Plural): TypeKey {
  return typeOf([], plural).key;
}

export function streamOf(plural: Plural, name: string): StreamName {
  return streamName(`object:${keyOf(plural)}/${name}`);
}

export function nameOf(number: number): string {
  return `thing-${String(number)}`;
}

export type Shown = ResourceObject & { readonly metadata: { readonly resourceVersion?: string } };

/** Writes the events that `decide` would have made, and keeps the objects after each, by stream. */
export class History {
  readonly #stage: ColumnStage;
  #objects = new Map<StreamName, Shown>();
  readonly #lives = new Map<StreamName, number>();
  /** The objects at each position, the beginning first. */
  readonly states: { readonly position: LogPosition; readonly objects: ReadonlyMap<StreamName, Shown> }[] = [];

  constructor(stage: ColumnStage) {
    this.#stage = stage;
  }

  async put(plural: Plural, object: ResourceObject): Promise<void> {
    const { name } = object.metadata;
    const stream = streamOf(plural, name);
    const present = this.#objects.get(stream);
    const life = present === undefined ? (this.#lives.get(stream) ?? 0) + 1 : (this.#lives.get(stream) ?? 0);
    this.#lives.set(stream, life);
    const { creationTimestamp = object.metadata.creationTimestamp } = present?.metadata ?? {};
    const metadata = { ...object.metadata, uid: `${name}-${String(life)}`, creationTimestamp };
    const type = present === undefined ? 'ObjectCreated' : 'ObjectUpdated';
    await this.#write(stream, { type, object: { ...object, metadata }, values: [] });
  }

  async other(kind: (typeof objectSteps)[number], plural: Plural, object: ResourceObject): Promise<void> {
    const stream = streamOf(plural, object.metadata.name);
    const present = this.#objects.get(stream);
    const own = present === undefined ? undefined : stored(present);
    if (kind === 'fence')
      return this.#write(stream, { type: 'NameFenced', ...(own === undefined ? {} : { object: own }), values: [] });
    if (own === undefined) return;
    const { finalizers, ...metadata } = own.metadata;
    const deletionTimestamp = metadata.deletionTimestamp ?? '2027-01-01T00:00:00.000Z';
    const marked = { ...own, metadata: { ...metadata, deletionTimestamp } };
    if (kind === 'touch') return this.#write(stream, { type: 'ObjectUpdated', object: own, values: [] });
    if (kind === 'mark') {
      const kept = { ...marked, metadata: { ...marked.metadata, finalizers: ['example.com/kept'] } };
      return this.#write(stream, { type: 'ObjectDeletionRequested', object: kept, values: [] });
    }
    const type = finalizers === undefined ? 'ObjectDeletionRequested' : 'ObjectUpdated';
    await this.#write(
      stream,
      { type, object: marked, values: [] },
      { type: 'ObjectDeleted', object: marked, values: [] },
    );
    if (kind === 'replace') await this.put(plural, object);
  }

  /** The state at a share of the positions, of those up to a limit. */
  at(share: number, last = this.states.at(-1)?.position): History['states'][number] | undefined {
    const folded = this.states.filter(({ position }) => last !== undefined && position <= last);
    return folded[Math.floor(share * folded.length)];
  }

  async #write(stream: StreamName, ...events: readonly ObjectEvent[]): Promise<void> {
    const last = await this.#stage.append(stream, ...events);
    for (const [index, event] of events.entries()) {
      const position = (last - BigInt(events.length - 1 - index)) as LogPosition;
      this.#objects = new Map(this.#objects);
      if (event.type === 'ObjectDeleted') this.#objects.delete(stream);
      else if (event.object !== undefined) {
        const metadata = { resourceVersion: String(position), ...event.object.metadata };
        this.#objects.set(stream, { ...event.object, metadata });
      }
      this.states.push({ position, objects: this.#objects });
    }
  }
}

/** As an event holds it. */
function stored({ metadata: { resourceVersion: _own, ...metadata }, ...object }: Shown): ResourceObject {
  return { ...object, metadata };
}

export type State = History['states'][number];

export function objectsOf({ objects }: State, plural: Plural): readonly Shown[] {
  return [...objects].filter(([stream]) => stream.startsWith(streamOf(plural, ''))).map(([, object]) => object);
}
