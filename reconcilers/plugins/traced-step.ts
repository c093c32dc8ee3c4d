import type { CausingEvent } from '../../src/command/event.ts';
import { reconcilePathStepsMax, reconcileRewritesMax, reconcileWrittenObjectsMax } from '../reconcile-limits.ts';

/** The part of a step with which later steps of the same chain of events are compared. */
export type Visit = {
  readonly reconciler: string;
  readonly name: string;
  /** The objects that the step wrote, as type and name. */
  readonly written: Set<string>;
  /**
   * The number of consecutive rewrites up to this step. In a rewrite, a step writes an object again because an earlier
   * step of the same reconciler and name wrote the object. At least `reconcileRewritesMax` if the cycle is slowed down.
   */
  rewrites: number;
};

/** The event of a step's write, as the cause of another step. */
export class StepEvent implements CausingEvent {
  readonly id: string;
  readonly correlationId: string;
  /** The step that wrote the event, and the steps before it in the chain of events, the latest first. */
  readonly path: readonly Visit[];
  /** Whether a step with this cause ended without a write. Later steps with this cause then continue no cycle. */
  isAnswered = false;

  constructor({ id, correlationId }: CausingEvent, path: readonly Visit[]) {
    this.id = id;
    this.correlationId = correlationId;
    this.path = path;
  }

  /** Whether the event is part of a cycle that is slowed down and that has steps of this reconciler for this name. */
  isSlowed(reconciler: string, name: string): boolean {
    return (this.path[0]?.rewrites ?? 0) >= reconcileRewritesMax && visitIn(this.path, reconciler, name) !== -1;
  }
}

/** A step of a plugin's reconciler, with the steps that led to it. */
export class TracedStep {
  readonly cause: CausingEvent | undefined;
  readonly visit: Visit;
  /** The steps that led to this step, without the previous step of the same reconciler and name. */
  readonly #path: readonly Visit[];
  /**
   * The previous step of the same reconciler and name in the chain of events that led to this step. Undefined if an
   * earlier step with the same cause ended without a write.
   */
  readonly #previous: Visit | undefined;
  /** Whether a step of the same reconciler and name wrote the cause of this step. */
  readonly isOwnCause: boolean;
  /** The reconcilers of the steps between `#previous` and this step. */
  readonly between: readonly string[];

  constructor(reconciler: string, name: string, cause: CausingEvent | undefined) {
    const path = cause instanceof StepEvent ? cause.path : [];
    const at = visitIn(path, reconciler, name);
    this.cause = cause;
    this.visit = { reconciler, name, written: new Set(), rewrites: 0 };
    this.#path = at === -1 ? path : path.toSpliced(at, 1);
    this.#previous = cause instanceof StepEvent && cause.isAnswered ? undefined : path[at];
    this.isOwnCause = at === 0;
    this.between = this.#previous === undefined ? [] : path.slice(0, at).map((visit) => visit.reconciler);
  }

  /** Whether the step is part of a cycle that is slowed down. */
  get isSlowed(): boolean {
    return this.visit.rewrites >= reconcileRewritesMax;
  }

  /** Records a write of the step. Returns whether the step rewrites an object because of its own earlier write. */
  record(object: string): boolean {
    const { visit } = this;
    if (visit.written.size < reconcileWrittenObjectsMax) visit.written.add(object);
    const previous = this.#previous;
    if (previous?.written.has(object) === true) visit.rewrites = previous.rewrites + 1;
    // A step of a slowed cycle may write another object first. The steps that this write causes are slowed down too.
    else if ((previous?.rewrites ?? 0) >= reconcileRewritesMax) this.slowDown();
    return previous?.written.has(object) === true;
  }

  /** Records that the step ended without a write, so that later steps with its cause continue no cycle. */
  answer(): void {
    if (this.cause instanceof StepEvent) this.cause.isAnswered = true;
  }

  /** Slows down the steps that the writes of this step cause. */
  slowDown(): void {
    this.visit.rewrites = Math.max(this.visit.rewrites, reconcileRewritesMax);
  }

  /** Returns an event of this step as a cause. */
  eventOf(event: CausingEvent): StepEvent {
    return new StepEvent(event, [this.visit, ...this.#path].slice(0, reconcilePathStepsMax));
  }
}

function visitIn(path: readonly Visit[], reconciler: string, name: string): number {
  return path.findIndex((visit) => visit.reconciler === reconciler && visit.name === name);
}
