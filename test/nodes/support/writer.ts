import type { Answered } from '../../support/ask.ts';
import type { NodeProcess } from './node-process.ts';
import { widgetsPath } from './widget-model.ts';

/**
 * A client that repeatedly writes one widget, each time with the version it knows: its size counts the writes. A write
 * refused while the log is unavailable is repeated after the Retry-After.
 */
export class Writer {
  readonly name: string;
  readonly #nodes: readonly NodeProcess[];
  #at: number;
  #size = -1;
  #version = -1;
  readonly statuses = new Map<number, number>();
  /** Refusals that do not say when to come back, and answers that nobody may be given. */
  readonly offences: string[] = [];

  constructor(name: string, nodes: readonly NodeProcess[], at: number) {
    this.name = name;
    this.#nodes = nodes;
    this.#at = at % nodes.length;
  }

  /** Writes that were acknowledged, or that it found to have landed: sizes 0 to this less one. */
  get acknowledged(): number {
    return this.#size + 1;
  }

  /** One write, sent until its outcome is known or the writer is stopped. */
  async write(isStopped: () => boolean): Promise<void> {
    const size = this.#size + 1;
    while (!isStopped()) {
      const { answered, node } = await this.#send(size);
      this.statuses.set(answered.status, (this.statuses.get(answered.status) ?? 0) + 1);
      if (answered.status === 200 || answered.status === 201) {
        this.#took(size, answered);
        return;
      }
      if (answered.status === 409) {
        // Its earlier attempt has succeeded after all: nobody else writes this widget.
        const stored = await node.ask(`${widgetsPath}/${this.name}`);
        if (stored.status === 200 && (JSON.parse(stored.text) as Stored).spec.size === size) this.#took(size, stored);
        else
          this.offences.push(
            `size ${size.toString()}: ${answered.text} but ${stored.status.toString()} ${stored.text}`,
          );
        return;
      }
      if (answered.status !== 503 || answered.headers['retry-after'] === undefined) {
        this.offences.push(`${answered.status.toString()} ${answered.text}`);
        return;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, Number(answered.headers['retry-after']) * 200);
      });
    }
  }

  async #send(size: number): Promise<{ readonly answered: Answered; readonly node: NodeProcess }> {
    const node = this.#nodes[this.#at]!;
    this.#at = (this.#at + 1) % this.#nodes.length;
    const metadata = { name: this.name, ...(size === 0 ? {} : { version: this.#version }) };
    const body = JSON.stringify({
      apiVersion: 'example.com/v1alpha1',
      kind: 'Widget',
      metadata,
      spec: { title: `${this.name} ${size.toString()}`, size },
    });
    const answered = await node.ask(size === 0 ? widgetsPath : `${widgetsPath}/${this.name}`, {
      method: size === 0 ? 'POST' : 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return { answered, node };
  }

  #took(size: number, { text }: Answered): void {
    this.#size = size;
    this.#version = (JSON.parse(text) as Stored).metadata.version;
  }
}

type Stored = { readonly metadata: { readonly version: number }; readonly spec: { readonly size: number } };
