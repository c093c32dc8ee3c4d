import { stackOf } from '../../src/base/error-message.ts';
import { callLater, type Clock, type Timer } from '../../src/base/clock.ts';
import { serviceController } from '../../src/base/service-controller.ts';
import { backgroundSliceMs, Slices } from '../../src/base/slices.ts';
import { inSlices } from '../../src/base/steps.ts';
import { eachName, storedIn, type StoredRows } from '../../src/command/upgrade/stored-rows.ts';
import { callsPlugin, storedViolations } from '../../src/command/upgrade/stored-violations.ts';
import { invalidKnownMax, invalidRecheckMs, invalidReportMs } from '../../src/limits/plugins.ts';
import type { InvalidObjects, LimitedRuns, ObjectCheckResults } from '../../src/plugin/api/object-checks.ts';
import type { TypeRegistry } from '../../src/plugin/registry/type-registry.ts';
import type { Leadership } from '../../src/read/leadership.ts';
import type { ChangeBatch, ChangeFeed } from '../../src/read/objects.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { ResourceType, Violation } from '../../src/resource/type/resource-type.ts';
import { Wake } from '../wake.ts';

export type ObjectChecksDependencies = {
  readonly rows: StoredRows;
  readonly changes: ChangeFeed;
  readonly registry: Pick<TypeRegistry, 'all' | 'byKey' | 'subscribe'>;
  readonly leadership: Leadership;
  readonly clock: Clock;
  /** Returns false if the type's schema has already accepted every object. */
  readonly mayBreak: (type: ResourceType) => boolean;
  /**
   * Returns whether the check of a type must wait for the migrations of its plugin. Call `retry` when the result
   * changes.
   */
  readonly isHeld: (type: ResourceType) => boolean;
  readonly limited: LimitedRuns;
  readonly onError: (error: unknown, type: string) => void;
};

type ObjectError = Violation & { readonly trace?: string | undefined };

type TypeCheck = {
  readonly type: ResourceType;
  /** Whether all objects must be checked. */
  isDue: boolean;
  /** The invalid objects by name, in the order of names, each with its first error. */
  readonly known: Map<string, ObjectError>;
  /** The number of invalid objects that `known` has no room for. */
  others: number;
  /** The names in `known` of the objects that were written after their last check. */
  readonly again: Set<string>;
  /** The name of the last object for which code of the plugin was called. */
  visited: string;
  /** Whether code of the plugin did not return. The objects are then not checked again. */
  isEnded: boolean;
  /** The summary of the invalid objects, which `ObjectChecks.of` returns; undefined if none is known. */
  shown: InvalidObjects | undefined;
};

/**
 * Checks the stored objects of plugins' types against the schemas and the hooks `validate`, on the leader. Checks all
 * objects when a type is served, and then each invalid object when it is written. Other writes need no check, because a
 * write under the present schema makes no valid object invalid.
 */
export class ObjectChecks implements ObjectCheckResults {
  readonly #dependencies: ObjectChecksDependencies;
  readonly #checks = new Map<TypeKey, TypeCheck>();
  readonly #listeners = new Set<(plugin: string) => void>();
  readonly #timers = new Map<string, Timer>();
  readonly #wake = new Wake();
  readonly #unsubscribe: readonly (() => void)[];
  #idle: (() => void)[] = [];
  #term = serviceController();
  #running: Promise<void> = Promise.resolve();
  #isOpen = false;
  #isBusy = false;

  constructor(dependencies: ObjectChecksDependencies) {
    this.#dependencies = dependencies;
    const { changes, registry, leadership } = dependencies;
    this.#unsubscribe = [
      leadership.subscribe(() => {
        this.#begin();
      }),
      registry.subscribe(({ type }, change) => {
        if (change === 'serving') this.#add(type);
        if (change === 'removed') this.#checks.delete(type.key);
      }),
      changes.subscribe((batch) => {
        this.#note(batch);
      }),
    ];
  }

  /** Starts the checks. Call `open` after the read models have caught up. */
  open(): void {
    this.#isOpen = true;
    this.#begin();
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#term.abort();
    await this.#running;
  }

  retry(): void {
    this.#wake.call();
  }

  of(plugin: string): readonly InvalidObjects[] {
    return [...this.#checks.values()].flatMap(({ type, shown }) =>
      shown === undefined || type.plugin !== plugin ? [] : [shown],
    );
  }

  subscribe(listener: (plugin: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Resolves when no object waits for a check on this node. */
  async idle(): Promise<void> {
    while (this.#isBusy || this.#next() !== undefined)
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
  }

  #begin(): void {
    this.#term.abort();
    this.#checks.clear();
    if (!this.#isOpen || !this.#dependencies.leadership.isLeader()) return;
    const { signal } = (this.#term = serviceController());
    this.#running = Promise.all([this.#running, this.#run(signal)]).then(() => undefined);
    for (const { type, serving } of this.#dependencies.registry.all()) if (serving) this.#add(type);
  }

  #add(type: ResourceType): void {
    const { leadership, mayBreak } = this.#dependencies;
    if (!this.#isOpen || type.plugin === 'platform' || !leadership.isLeader() || !mayBreak(type)) return;
    const check = {
      type,
      isDue: true,
      known: new Map(),
      others: 0,
      again: new Set<string>(),
      visited: '',
      isEnded: false,
      shown: undefined,
    };
    this.#checks.set(type.key, check);
    this.#wake.call();
  }

  #note({ changes }: ChangeBatch): void {
    if (this.#checks.size === 0) return;
    for (const { type, name } of changes) {
      const check = this.#checks.get(type);
      if (check?.known.has(name) !== true) continue;
      check.again.add(name);
      this.#wake.call();
    }
  }

  #next(): TypeCheck | undefined {
    const { isHeld } = this.#dependencies;
    return [...this.#checks.values()].find(
      ({ type, isDue, isEnded, again }) => !isEnded && (isDue || again.size > 0) && !isHeld(type),
    );
  }

  async #run(signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      const check = this.#next();
      if (check === undefined) {
        for (const resolve of this.#idle.splice(0)) resolve();
        await this.#wake.next(signal);
        continue;
      }
      this.#isBusy = true;
      try {
        await (check.isDue ? this.#checkAll(check, signal) : this.#checkAgain(check, signal));
      } catch (error) {
        this.#checks.delete(check.type.key);
        if (!isOver()) this.#dependencies.onError(error, check.type.key);
      } finally {
        this.#isBusy = false;
      }
    }
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #checkAll(check: TypeCheck, signal: AbortSignal): Promise<void> {
    const { rows, clock, limited } = this.#dependencies;
    const { type, known } = check;
    known.clear();
    check.again.clear();
    check.others = 0;
    const step = (name: string): boolean => {
      if (signal.aborted || !this.#isCurrent(check)) return false;
      const error = this.#errorOf(check, name);
      if (error !== undefined && known.size < invalidKnownMax) known.set(name, error);
      else if (error !== undefined) check.others += 1;
      return true;
    };
    const steps = eachName(rows, { type: type.key }, step);
    const slices = new Slices(clock, backgroundSliceMs);
    if (!callsPlugin(type)) await inSlices(steps, slices);
    else if (!(await limited.inSlices(steps, slices))) this.#end(check);
    if (signal.aborted || !this.#isCurrent(check)) return;
    check.isDue = false;
    this.#show(check);
    if (check.others > 0) this.#checkLater(check, signal);
  }

  async #checkAgain(check: TypeCheck, signal: AbortSignal): Promise<void> {
    const { clock, limited } = this.#dependencies;
    const slices = new Slices(clock, backgroundSliceMs);
    for (const name of check.again) {
      if (signal.aborted || check.isEnded || !this.#isCurrent(check)) return;
      check.again.delete(name);
      const hasReturned = limited.call(() => {
        const error = this.#errorOf(check, name);
        if (error === undefined) check.known.delete(name);
        else check.known.set(name, error);
      });
      if (!hasReturned) this.#end(check);
      if (slices.isOver()) await slices.next();
    }
    this.#show(check);
  }

  /** Schedules a check of all objects, because changes of invalid objects that are not in `known` are not noticed. */
  #checkLater(check: TypeCheck, signal: AbortSignal): void {
    callLater(this.#dependencies.clock, { ms: invalidRecheckMs, signal }, () => {
      if (!this.#isCurrent(check)) return;
      check.isDue = true;
      this.#wake.call();
    });
  }

  /** Ends the checks of a type. A hook or a conversion has not returned for the last visited object. */
  #end(check: TypeCheck): void {
    const { limitMs } = this.#dependencies.limited;
    const detail =
      `code of the plugin (the hook "validate" or a conversion) did not return within ${String(limitMs / 1_000)} s: ` +
      'it must return for every stored object; further objects are not checked';
    check.isEnded = true;
    check.known.set(check.visited, { pointer: '', detail });
  }

  #errorOf(check: TypeCheck, name: string): ObjectError | undefined {
    const { type } = check;
    check.visited = name;
    const stored = storedIn(this.#dependencies.rows, type, name);
    if (stored === undefined) return undefined;
    // The schema of another version would report members that the conversion changes.
    if (!stored.ok) return { pointer: '', detail: stored.problem };
    const now = new Date(this.#dependencies.clock.now()).toISOString();
    const [first] = storedViolations(type, stored.object, now);
    return first && { pointer: first.pointer, detail: first.detail, trace: stackOf(first.thrown) };
  }

  #isCurrent(check: TypeCheck): boolean {
    return this.#checks.get(check.type.key) === check;
  }

  #show(check: TypeCheck): void {
    const { type, known, others } = check;
    const [first] = known;
    check.shown = first && {
      type: type.key,
      count: known.size + others,
      first: {
        name: first[0],
        pointer: first[1].pointer,
        detail: first[1].detail,
        trace: first[1].trace,
      },
    };
    this.#report(type.plugin);
  }

  /** Reports after a delay, since many objects may change together. */
  #report(plugin: string): void {
    if (this.#timers.has(plugin)) return;
    const timer = this.#dependencies.clock.after(invalidReportMs, () => {
      this.#timers.delete(plugin);
      for (const listener of this.#listeners) listener(plugin);
    });
    this.#timers.set(plugin, timer);
  }
}
