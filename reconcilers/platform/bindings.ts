import { isObject } from '../../src/base/guards.ts';
import { isJsonList } from '../../src/base/json.ts';
import { Slices } from '../../src/base/slices.ts';
import { inSlices, type Steps } from '../../src/base/steps.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { streamName, streamRevision, type EventLog, type LogPosition } from '../../src/log/log.ts';
import type { Change } from '../../src/read/objects.ts';
import type { JsonValue, ResourceObject } from '../../src/resource/object/object.ts';
import { nameProblem } from '../../src/resource/type/names.ts';
import { bindFields } from '../../src/resource/query/bind-fields.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import type { Keys } from '../controller-options.ts';
import { again, settled, type Outcome } from '../outcome.ts';
import { accountConcurrencyMax, bindingsPerStepMax, userEventsPerRead } from './platform-limits.ts';
import { markedOf, namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformReconciler } from './platform-reconciler.ts';
import { PlatformWrites, type Read } from './platform-writes.ts';

export type BindingsDependencies = PlatformDependencies & {
  readonly log: Pick<EventLog, 'readStream'>;
  readonly users: ResourceType;
  readonly roleBindings: ResourceType;
  /** The finalizer of users. */
  readonly finalizer: string;
};

/**
 * Removes deleted users from the bindings that name them. The keys are the names of users.
 * A binding names its users, so a later user of the same name would get the roles. A finalizer therefore keeps a marked
 * user until no binding names the user. If somebody removes the finalizer, the bindings from before the deletion are
 * still corrected. A binding that was written for a name without a user remains, since it may be intended for a future
 * user.
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6). The write requires the state of the
 * binding that the step read, and a mark is permanent.
 */
export class Bindings extends PlatformReconciler {
  readonly #dependencies: BindingsDependencies;
  readonly #writes: PlatformWrites;

  constructor(dependencies: BindingsDependencies) {
    super({ name: 'bindings', concurrency: accountConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
    this.#writes = new PlatformWrites('bindings', dependencies);
  }

  protected *keys(): Keys {
    const { reader, users, roleBindings } = this.#dependencies;
    yield* markedOf(reader, users);
    for (const name of namesOf(reader, roleBindings)) {
      yield undefined;
      const binding = readObject(reader, roleBindings, name)?.object;
      if (binding === undefined) continue;
      for (const user of userNames(binding)) {
        yield this.#isDeleted(user) || this.#isYounger(user, binding) ? user : undefined;
      }
    }
  }

  protected onChange({ type, name, kind, deletionRequested, bytes, cause }: Change): void {
    const { users, roleBindings } = this.#dependencies;
    if (type === users.key && (kind !== 'modified' || deletionRequested)) this.enqueue(name, cause);
    if (type !== roleBindings.key || kind === 'deleted') return;
    this.enqueueKeys(() => this.#deletedIn(bytes), cause);
  }

  /** Yields between names, since a binding may name thousands of users. */
  *#deletedIn(binding: Uint8Array): Keys {
    for (const user of userNames(storedObject(binding))) yield this.#isDeleted(user) ? user : undefined;
  }

  /**
   * Whether the user of this name was deleted or is marked. A fence on a name that never had a user also counts as a
   * deletion, without consequences.
   */
  #isDeleted(user: string): boolean {
    if (nameProblem(user) !== undefined) return false;
    const head = this.#dependencies.reader.head(this.#dependencies.users.key, user);
    return (
      head.kind === 'deleted' ||
      (head.kind === 'live' && storedObject(head.stored.bytes).metadata.deletionTimestamp !== undefined)
    );
  }

  /**
   * Whether the user was created at the same time as the binding, or later. The binding may then refer to an earlier
   * user of the name.
   */
  #isYounger(user: string, { metadata }: ResourceObject): boolean {
    const made =
      nameProblem(user) === undefined
        ? readObject(this.#dependencies.reader, this.#dependencies.users, user)?.object.metadata.creationTimestamp
        : undefined;
    return made !== undefined && metadata.creationTimestamp <= made;
  }

  protected async reconcile(user: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const { finalizer, users } = this.#dependencies;
    const writes = this.#writes.because(cause);
    const read = readObject(this.#dependencies.reader, users, user);
    if (read?.object.metadata.deletionTimestamp === undefined)
      return this.#remove(user, await this.#leftBy(user), writes);
    const bound = await this.#bindingsOf(user, () => true);
    if (bound.length > 0) return this.#remove(user, bound, writes);
    return read.object.metadata.finalizers?.includes(finalizer) === true
      ? writes.removeFinalizer(read, finalizer)
      : settled;
  }

  async #remove(user: string, bound: readonly Read[], writes: PlatformWrites): Promise<Outcome> {
    for (const binding of bound) {
      const others = subjectsOf(binding.object).filter((subject) => !isUser(subject, user));
      const outcome =
        others.length === 0 ? await writes.delete(binding) : await writes.patch(binding, { subjects: others });
      if (outcome.type !== 'settled') return outcome;
    }
    // More bindings may name the user, or another writer may have been faster, so another step checks again.
    return bound.length > 0 ? again(0) : settled;
  }

  /** The bindings that were last written while an earlier user of the name existed. */
  async #leftBy(user: string): Promise<readonly Read[]> {
    const head = this.#dependencies.reader.head(this.#dependencies.users.key, user);
    if (head.kind === 'absent') return [];
    const isSuspect = ({ object }: Read): boolean => head.kind === 'deleted' || this.#isYounger(user, object);
    // Usually no binding matches, so the log need not be read.
    if ((await this.#bindingsOf(user, isSuspect)).length === 0) return [];
    const deletedAt = await this.#lastDeletion(user, head.kind === 'live' ? head.stored.revision : head.revision);
    if (deletedAt === undefined) return [];
    return this.#bindingsOf(user, (read) => isSuspect(read) && BigInt(read.resourceVersion) < deletedAt);
  }

  /** The position of the last deletion of a user with this name, up to `revision` of the stream. */
  async #lastDeletion(user: string, revision: number): Promise<LogPosition | undefined> {
    const { log, users } = this.#dependencies;
    for (let end = revision; end >= 0; end -= userEventsPerRead) {
      const from = streamRevision(Math.max(0, end - userEventsPerRead + 1));
      const events = await log.readStream(streamName(`object:${users.key}/${user}`), { from, limit: end - from + 1 });
      const removed = events.findLast((recorded) => decodeEvent(recorded).event.type === 'ObjectDeleted');
      if (removed !== undefined) return removed.position;
    }
    return undefined;
  }

  /** The bindings that name the user, satisfy `counts` and are not marked; at most `bindingsPerStepMax`. */
  async #bindingsOf(user: string, counts: (binding: Read) => boolean): Promise<readonly Read[]> {
    return inSlices(this.#someOf(user, counts), new Slices(this.#dependencies.clock));
  }

  *#someOf(user: string, counts: (binding: Read) => boolean): Steps<readonly Read[]> {
    const { reader, roleBindings } = this.#dependencies;
    const bound = bindFields([{ field: 'subjects.name', operator: 'in', values: [user] }], roleBindings.indexes);
    if (!bound.ok) throw new Error(`could not select ${roleBindings.key} by user: ${bound.problem}`);
    const found: Read[] = [];
    for (const name of namesOf(reader, roleBindings, bound.requirements)) {
      const read = readObject(reader, roleBindings, name);
      if (read !== undefined && binds(read.object, user) && counts(read)) found.push(read);
      if (found.length === bindingsPerStepMax) break;
      yield;
    }
    return found;
  }
}

function binds(binding: ResourceObject, user: string): boolean {
  if (binding.metadata.deletionTimestamp !== undefined) return false;
  return subjectsOf(binding).some((subject) => isUser(subject, user));
}

function subjectsOf({ subjects }: ResourceObject): readonly JsonValue[] {
  return isJsonList(subjects) ? subjects : [];
}

function isUser(subject: JsonValue, user: string): boolean {
  return isObject(subject) && subject['kind'] === 'User' && subject['name'] === user;
}

function userNames(binding: ResourceObject): readonly string[] {
  return subjectsOf(binding)
    .map((subject) => (isObject(subject) ? subject['name'] : undefined))
    .filter((name) => typeof name === 'string');
}
