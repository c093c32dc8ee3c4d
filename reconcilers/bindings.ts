import { decodeEvent } from '../src/log/event-codec.ts';
import { streamName, streamRevision, type EventLog, type LogPosition } from '../src/log/log.ts';
import type { Change } from '../src/read/objects.ts';
import type { JsonObject, JsonValue, ResourceObject } from '../src/resource/object.ts';
import { nameProblem } from '../src/resource/names.ts';
import { bindFields } from '../src/resource/order.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { isMembers } from '../src/resource/schema-check.ts';
import { storedObject } from '../src/resource/shown-object.ts';
import { Controller } from './controller.ts';
import { again, settled, type Outcome } from './outcome.ts';
import { accountConcurrencyMax, userEventsPerRead } from './platform-limits.ts';
import { markedOf, namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformWrites, type Read } from './platform-writes.ts';

/**
 * Takes users who are deleted out of the bindings that name them. A binding names a user by name alone, so whoever got the name
 * next would get the roles: a user who is marked is kept by a finalizer until no binding names them, and only then is the
 * name free. Where somebody took the finalizer away by hand, bindings last written before the user went are removed all the
 * same, whether or not there is another of the name by then. One that is written for a name nobody has is left alone, as it
 * may be for somebody to come; so is `oidc:…`, whom no User stands for.
 *
 * A leader that is one no more may still take a last step, and that is harmless (consistency protocol, 6): what it writes is bound
 * to the very state of the binding it read, and a mark stays. The finalizer is taken away on the absence of bindings: one
 * that another node wrote a moment ago is as one written a moment later, for a name that is about to be free.
 */
export type BindingsDependencies = PlatformDependencies & {
  readonly log: Pick<EventLog, 'readStream'>;
  readonly users: ResourceType;
  readonly roleBindings: ResourceType;
  /** What keeps a marked user. */
  readonly finalizer: string;
};

export class Bindings {
  readonly #dependencies: BindingsDependencies;
  /** By the name of a user. */
  readonly #controller: Controller;
  readonly #writes: PlatformWrites;
  readonly #unsubscribe: () => void;

  constructor(dependencies: BindingsDependencies) {
    const { changes, bound, clock, leadership, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#writes = new PlatformWrites('bindings', dependencies);
    this.#controller = new Controller({
      name: 'bindings', bound, concurrency: accountConcurrencyMax, clock, leadership, onError,
      keys: () => this.#keys(), reconcile: (name) => this.#reconcile(name),
    });
    this.#unsubscribe = changes.subscribe((batch) => { for (const change of batch.changes) this.#note(change); });
  }

  /** Call it once users and bindings can be listed. */
  open(): void {
    this.#controller.open();
  }

  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#controller.stop();
  }

  *#keys(): Iterable<string> {
    const { reader, users, roleBindings } = this.#dependencies;
    yield* markedOf(reader, users);
    for (const name of namesOf(reader, roleBindings)) {
      const binding = readObject(reader, roleBindings, name)?.object;
      if (binding !== undefined) yield* userNames(binding).filter((user) => this.#isGone(user) || this.#isYounger(user, binding));
    }
  }

  #note({ type, name, kind, deletionRequested, bytes }: Change): void {
    const { users, roleBindings } = this.#dependencies;
    if (type === users.key && (kind !== 'modified' || deletionRequested)) this.#controller.enqueue(name);
    if (type !== roleBindings.key || kind === 'deleted') return;
    for (const user of userNames(storedObject(bytes))) if (this.#isGone(user)) this.#controller.enqueue(user);
  }

  /** There was such a user, and there is none, or one that is marked. */
  #isGone(user: string): boolean {
    if (nameProblem(user) !== undefined) return false;
    const head = this.#dependencies.reader.head(this.#dependencies.users.key, user);
    return head.kind === 'gone' || (head.kind === 'live' && storedObject(head.stored.bytes).metadata.deletionTimestamp !== undefined);
  }

  /** There is such a user, made after the binding was: it may have been somebody else's. Stamps never run backwards within what was folded. */
  #isYounger(user: string, { metadata }: ResourceObject): boolean {
    const made = nameProblem(user) === undefined ? readObject(this.#dependencies.reader, this.#dependencies.users, user)?.object.metadata.creationTimestamp : undefined;
    return made !== undefined && metadata.creationTimestamp <= made;
  }

  async #reconcile(user: string): Promise<Outcome> {
    const { finalizer, users } = this.#dependencies;
    const read = readObject(this.#dependencies.reader, users, user);
    const bound = this.#bindingsOf(user);
    if (read?.object.metadata.deletionTimestamp === undefined) return this.#remove(user, await this.#leftBy(user, bound));
    if (bound.length > 0) return this.#remove(user, bound);
    return read.object.metadata.finalizers?.includes(finalizer) === true ? this.#writes.removeFinalizer(read, finalizer) : settled;
  }

  async #remove(user: string, bound: readonly Read[]): Promise<Outcome> {
    for (const binding of bound) {
      const others = subjectsOf(binding.object).filter((subject) => !isUser(subject, user));
      const outcome = others.length === 0 ? await this.#writes.delete(binding) : await this.#writes.patch(binding, { subjects: others });
      if (outcome.type !== 'settled') return outcome;
    }
    // Somebody else may have been faster: the user may go once no binding is found.
    return bound.length > 0 ? again(0) : settled;
  }

  /** Those that were last written while there still was a former user of the name: later ones are for whoever came, or comes, next. */
  async #leftBy(user: string, bound: readonly Read[]): Promise<readonly Read[]> {
    const head = this.#dependencies.reader.head(this.#dependencies.users.key, user);
    const suspects = head.kind === 'live' ? bound.filter(({ object }) => this.#isYounger(user, object)) : bound;
    if (head.kind === 'absent' || suspects.length === 0) return [];
    const gone = await this.#lastGone(user, head.kind === 'live' ? head.stored.revision : head.revision);
    return gone === undefined ? [] : suspects.filter(({ resourceVersion }) => BigInt(resourceVersion) < gone);
  }

  /** Where in the log the last user of the name before there was this revision was removed. */
  async #lastGone(user: string, revision: number): Promise<LogPosition | undefined> {
    const { log, users } = this.#dependencies;
    for (let end = revision; end >= 0; end -= userEventsPerRead) {
      const from = streamRevision(Math.max(0, end - userEventsPerRead + 1));
      const events = await log.readStream(streamName(`object:${users.key}/${user}`), { from, limit: end - from + 1 });
      const removed = events.findLast((recorded) => decodeEvent(recorded).event.type === 'ObjectDeleted');
      if (removed !== undefined) return removed.position;
    }
    return undefined;
  }

  /** Bindings that name the user and are not going away already. */
  #bindingsOf(user: string): readonly Read[] {
    const { reader, roleBindings } = this.#dependencies;
    const bound = bindFields([{ field: 'subjects.name', operator: 'in', values: [user] }], roleBindings.indexes);
    if (!bound.ok) throw new Error(`${roleBindings.key}: ${bound.problem}`);
    const names = [...namesOf(reader, roleBindings, bound.requirements)];
    return names.map((name) => readObject(reader, roleBindings, name)).filter((read) => read !== undefined)
      .filter(({ object }) => object.metadata.deletionTimestamp === undefined && subjectsOf(object).some((subject) => isUser(subject, user)));
  }
}

/** Parsed JSON. */
function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function subjectsOf({ subjects }: ResourceObject): readonly JsonValue[] {
  return isList(subjects) ? subjects : [];
}

function isObject(value: JsonValue): value is JsonObject {
  return isMembers(value);
}

function isUser(subject: JsonValue, user: string): boolean {
  return isObject(subject) && subject['kind'] === 'User' && subject['name'] === user;
}

function userNames(binding: ResourceObject): readonly string[] {
  return subjectsOf(binding).filter(isObject).map(({ name }) => name).filter((name) => typeof name === 'string');
}
