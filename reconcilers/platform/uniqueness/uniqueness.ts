import { setImmediate as nextTurn } from 'node:timers/promises';

import { delay } from '../../../src/base/clock.ts';
import { serviceController } from '../../../src/base/service-controller.ts';
import type { DomainEvent } from '../../../src/command/event.ts';
import { encodeEvent } from '../../../src/log/event-codec.ts';
import { streamName, streamRevision, type LogPosition } from '../../../src/log/log.ts';
import type { Declared } from '../../../src/read/declarations.ts';
import type { ChangeBatch } from '../../../src/read/objects.ts';
import type { Duplicate, UniqueStep } from '../../../src/read/uniqueness.ts';
import { isSameDeclaration } from '../../../src/resource/type/declaration.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { whileListening, type LiveNodes } from '../live-nodes.ts';
import { ObjectClaims } from './object-claims.ts';
import {
  duplicatesKnownMax,
  uniquenessConcurrencyMax,
  uniquenessRecheckMs,
  uniquenessRetryMs,
  uniquenessRetryMsMax,
} from '../platform-limits.ts';
import type { UniquenessDependencies } from './uniqueness-dependencies.ts';
import { unenforced, uniqueTask, type UniqueTask } from './unique-task.ts';
import { Wake } from '../../wake.ts';

/**
 * Enforces indexes that have become unique (docs/spec/consistency.md, 1). Runs on the leader when all live nodes are
 * drained. A fence claims the values of each object that was written under an older declaration. When no such object is
 * left, the enforcement is recorded in the log.
 *
 * A last step of a deposed leader is harmless. A fence requires the revision on which it was decided. The event of an
 * enforcement has no effect after a newer declaration or a write under an older declaration.
 */
export class Uniqueness {
  readonly #dependencies: UniquenessDependencies;
  readonly #claims: ObjectClaims;
  readonly #tasks = new Map<TypeKey, UniqueTask>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #wakes = { drain: new Wake(), claim: new Wake() };
  #term = serviceController();
  #running: Promise<unknown> = Promise.resolve();
  #isOpen = false;

  constructor(dependencies: UniquenessDependencies) {
    const { leadership, declarations, changes } = dependencies;
    this.#dependencies = dependencies;
    this.#claims = new ObjectClaims(dependencies);
    this.#unsubscribe = [
      leadership.subscribe(() => {
        this.#begin();
      }),
      declarations.subscribe(() => {
        this.scan();
      }),
      changes.subscribe((batch) => {
        this.#record(batch);
      }),
    ];
  }

  /** Starts the work. Call `open` after the read models have caught up. */
  open(): void {
    this.#isOpen = true;
    this.#begin();
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#term.abort();
    await this.#running;
  }

  /** The current step of each type that this node works on. */
  steps(): readonly UniqueStep[] {
    return [...this.#tasks.values()].flatMap(({ type, step, duplicates, duplicateCount }) => {
      const standing = this.#standing(type);
      return standing === undefined
        ? []
        : [{ type, step, indexes: unenforced(standing), duplicates: [...duplicates.values()], duplicateCount }];
    });
  }

  /**
   * Updates the tasks, which write objects of their types. Call `scan` after a type is served, since nothing may write
   * the type's objects before.
   */
  scan(): void {
    if (!this.#isOpen || this.#term.signal.aborted || !this.#dependencies.leadership.isLeader()) return;
    const { served, reader, onStep } = this.#dependencies;
    const types = new Map(served().map((type) => [type.key, type]));
    for (const task of [...this.#tasks.values()]) {
      const standing = types.get(task.type.key) === task.type ? this.#standing(task.type) : undefined;
      if (standing?.revision === task.revision) continue;
      this.#drop(task);
    }
    for (const [key, type] of types) {
      const standing = this.#standing(type);
      if (standing === undefined || this.#tasks.has(key)) continue;
      this.#tasks.set(key, uniqueTask(type, standing, reader.position()));
      onStep(type);
    }
    this.#wakes.drain.call();
    this.#wakes.claim.call();
  }

  #drop(task: UniqueTask): void {
    const { key } = task.type;
    if (this.#tasks.get(key) === task) this.#tasks.delete(key);
    this.#dependencies.onStep(task.type);
  }

  /**
   * The declaration in force, if it equals the declaration of this node and has unique indexes that are not enforced.
   */
  #standing({ key, declaration }: ResourceType): Declared | undefined {
    const standing = this.#dependencies.declarations.declared(key);
    if (standing === undefined || declaration === undefined || !isSameDeclaration(standing.declaration, declaration))
      return undefined;
    return unenforced(standing).length === 0 ? undefined : standing;
  }

  #begin(): void {
    this.#term.abort();
    const left = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const { type } of left) this.#dependencies.onStep(type);
    if (!this.#isOpen || !this.#dependencies.leadership.isLeader()) return;
    const { signal } = (this.#term = serviceController());
    this.#running = Promise.all([this.#running, this.#drainAll(signal), this.#claimAll(signal)]);
    this.scan();
  }

  /** Enqueues a duplicate again after a change of the object or of the holder, which may resolve the duplicate. */
  #record({ changes }: ChangeBatch): void {
    if (this.#tasks.size === 0) return;
    for (const { type, name } of changes) {
      const task = this.#tasks.get(type);
      if (task === undefined || task.duplicates.size === 0) continue;
      for (const duplicate of task.duplicates.values())
        if (duplicate.name === name || duplicate.holder === name) task.again.add(duplicate.name);
      if (task.again.size > 0) this.#wakes.claim.call();
    }
  }

  async #drainAll(signal: AbortSignal): Promise<void> {
    const { isAlone, clock, onError } = this.#dependencies;
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      if (!this.#isPending()) {
        await this.#wakes.drain.next(signal);
        continue;
      }
      try {
        if (isAlone) this.#drained([await this.#dependencies.drain()]);
        else await whileListening(this.#dependencies, signal, async (nodes) => this.#checkNodes(nodes));
      } catch (error) {
        if (!isOver()) onError(error, '');
      }
      if (this.#isPending()) await delay(clock, uniquenessRetryMs, signal);
    }
  }

  #isPending(): boolean {
    return [...this.#tasks.values()].some(({ step }) => step === 'pending');
  }

  /** Starts the tasks for which all nodes are drained. Returns whether no task waits for a node. */
  async #checkNodes(nodes: LiveNodes): Promise<boolean> {
    const live = nodes.all()?.map(({ drained }) => drained);
    if (live?.every((position) => position !== undefined) === true) this.#drained(live);
    return Promise.resolve(!this.#isPending());
  }

  #drained(positions: readonly LogPosition[]): void {
    for (const task of this.#tasks.values()) {
      if (task.step !== 'pending' || !positions.every((position) => position >= task.position)) continue;
      task.step = 'claiming';
      this.#dependencies.onStep(task.type);
      this.#wakes.claim.call();
    }
  }

  async #claimAll(signal: AbortSignal): Promise<void> {
    const { clock, onError } = this.#dependencies;
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      const task = [...this.#tasks.values()].find(
        ({ step, isDue, again }) => step === 'claiming' && (isDue || again.size > 0),
      );
      if (task === undefined) {
        await this.#wakes.claim.next(signal);
        continue;
      }
      try {
        await (task.isDue ? this.#pass(task, signal) : this.#passAgain(task, signal));
      } catch (error) {
        if (!isOver()) onError(error, task.type.key);
        task.isDue = true;
        task.failures += 1;
        await delay(clock, Math.min(uniquenessRetryMs * 2 ** task.failures, uniquenessRetryMsMax), signal);
      }
    }
  }

  /** Claims the values of each object that was written under an older declaration. */
  async #pass(task: UniqueTask, signal: AbortSignal): Promise<void> {
    const { rows, clock } = this.#dependencies;
    const standing = this.#standing(task.type);
    if (standing === undefined) {
      this.#drop(task);
      return;
    }
    const before = streamRevision(Math.max(...unenforced(standing).map((index) => standing.since[index] ?? 0)));
    task.again.clear();
    const found: Duplicate[] = [];
    let count = 0;
    let after: string | undefined;
    do {
      const page = rows.page(task.type.key, before, after);
      for (const duplicate of await this.#claimEach(task, page.names, signal)) {
        count += 1;
        if (found.length < duplicatesKnownMax) found.push(duplicate);
      }
      after = page.next;
      await nextTurn();
    } while (after !== undefined && !signal.aborted);
    if (signal.aborted) return;
    task.isDue = false;
    task.failures = 0;
    this.#know(task, found, count);
    if (count === 0) await this.#enforce(task, standing);
    else
      void delay(clock, uniquenessRecheckMs, signal).then(() => {
        this.#due(task);
      });
  }

  async #passAgain(task: UniqueTask, signal: AbortSignal): Promise<void> {
    const names = [...task.again];
    task.again.clear();
    const left = new Map([...task.duplicates].filter(([name]) => !names.includes(name)));
    for (const duplicate of await this.#claimEach(task, names, signal)) left.set(duplicate.name, duplicate);
    if (signal.aborted) return;
    this.#know(task, [...left.values()], task.duplicateCount - task.duplicates.size + left.size);
    if (left.size === 0) this.#due(task);
  }

  #due(task: UniqueTask): void {
    task.isDue = true;
    this.#wakes.claim.call();
  }

  #know(task: UniqueTask, found: readonly Duplicate[], count: number): void {
    const reported = JSON.stringify([task.duplicateCount, ...task.duplicates]);
    task.duplicates.clear();
    for (const duplicate of found) task.duplicates.set(duplicate.name, duplicate);
    task.duplicateCount = count;
    if (reported === JSON.stringify([count, ...task.duplicates])) return;
    this.#dependencies.onStep(task.type);
    this.#dependencies.onDuplicates({ type: task.type, duplicates: found, duplicateCount: count });
  }

  /** Claims the values of only a few objects concurrently, so that other writes are not delayed. */
  async #claimEach({ type }: UniqueTask, names: readonly string[], signal: AbortSignal): Promise<readonly Duplicate[]> {
    const duplicates: Duplicate[] = [];
    const waiting = names.values();
    const ended = await Promise.allSettled(
      Array.from({ length: Math.min(uniquenessConcurrencyMax, names.length) }, async () => {
        for (const name of waiting) {
          if (signal.aborted) return;
          const came = await this.#claims.claim(type, name);
          if (came !== 'claimed') duplicates.push(came);
        }
      }),
    );
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return duplicates.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /**
   * Records the enforcement. The event has no effect if a newer declaration or a write under an older declaration was
   * folded after `standing` was read.
   */
  async #enforce({ type }: UniqueTask, standing: Declared): Promise<void> {
    const { log, uuid, metadata, reader } = this.#dependencies;
    const [stream, indexes] = [streamName(`unique:${type.key}`), unenforced(standing)];
    const event: DomainEvent = { type: 'UniqueEnforced', declared: standing.revision, late: standing.late, indexes };
    const last = await log.readLast(stream);
    const appended = await log.append(stream, [encodeEvent(uuid(), event, metadata())], last?.revision ?? 'absent');
    if (!appended.ok) throw new Error(`could not record the unique indexes of ${type.key}: ${appended.reason}`);
    await reader.reached(appended.position, { timeoutMs: uniquenessRecheckMs, signal: this.#term.signal });
    if (this.#standing(type) === undefined) this.#dependencies.onEnforced(type, indexes);
    const task = this.#tasks.get(type.key);
    if (task?.revision === standing.revision) this.#due(task);
  }
}
