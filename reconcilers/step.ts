/** The time this node leads, from one gain of the lead to its loss: with it everything is dropped but what is held. */
export type Term = { readonly failures: Map<string, number> };

/** A step that is under way: it holds its key. */
export class Step {
  readonly key: string;
  readonly term: Term;
  /** It is past its time limit. */
  isStuck = false;
  /** Made when it is asked for: it costs more than a short step, and most never look. */
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(key: string, term: Term) {
    this.key = key;
    this.term = term;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}
