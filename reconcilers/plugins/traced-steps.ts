import type { Change } from '../../src/read/objects.ts';
import { reconcileTracedStepsMax } from '../reconcile-limits.ts';
import type { TracedStep } from './traced-step.ts';

/** A step, with the function that is called with each change that the step wrote. */
export type Tracing = {
  readonly step: TracedStep;
  readonly onWrite: (change: Change) => void;
};

/** Attributes changes to the steps that wrote them, by the request id of a step's writes. */
export class TracedSteps {
  readonly #uuid: () => string;
  /** The last steps that wrote, the latest last. A write may complete after its step has ended. */
  readonly #steps = new Map<string, Tracing>();

  constructor(uuid: () => string) {
    this.#uuid = uuid;
  }

  /**
   * Returns the request id of the step's writes. The id is created at the first write, since most steps write nothing.
   */
  requestIdOf(tracing: Tracing): () => string {
    let requestId: string | undefined;
    return () => {
      if (requestId === undefined) {
        requestId = this.#uuid();
        this.#steps.set(requestId, tracing);
        const [oldest] = this.#steps.keys();
        if (oldest !== undefined && this.#steps.size > reconcileTracedStepsMax) this.#steps.delete(oldest);
      }
      return requestId;
    };
  }

  /** Returns the step that wrote the change; undefined if no recent step of this server wrote the change. */
  stepOf({ requestId }: Change): TracedStep | undefined {
    return requestId === undefined ? undefined : this.#steps.get(requestId)?.step;
  }

  /** Reports changes to the steps that wrote them. Call `notice` before the changes enqueue names. */
  notice(changes: readonly Change[]): void {
    if (this.#steps.size === 0) return;
    for (const change of changes)
      if (change.requestId !== undefined) this.#steps.get(change.requestId)?.onWrite(change);
  }
}
