import { request, type ClientRequest, type IncomingMessage } from 'node:http';

import { targetOf, type Item, type Wanted } from './listed-events.ts';

type Frame = {
  readonly type: string;
  readonly object: Item & { readonly code?: number; readonly metadata: { readonly resourceVersion: string } };
};

/**
 * A client that watches events for ever: whenever its watch ends, it resumes after the last position that it has read.
 * It may stop reading for a while.
 */
export class EventReader {
  readonly items: Item[] = [];
  /** How many watches it has begun. */
  watches = 0;
  /** A broken promise of the server. */
  failure: Error | undefined;
  readonly #origin: string;
  readonly #wanted: Wanted;
  readonly #authorization: string;
  #position: string | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #isPaused = false;
  #isOver = false;
  #woken: () => void = () => undefined;

  constructor(origin: string, wanted: Wanted, { authorization, after }: { authorization: string; after?: string }) {
    this.#origin = origin;
    this.#wanted = wanted;
    this.#authorization = authorization;
    this.#position = after;
    this.#watch();
  }

  pause(): void {
    this.#isPaused = true;
    this.#response?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#response?.resume();
  }

  reconnect(): void {
    this.#response?.destroy();
  }

  close(): void {
    this.#isOver = true;
    this.#request?.destroy();
  }

  /** Resolves once it has at least so many events, or has failed. */
  async has(count: number): Promise<void> {
    while (this.items.length < count && this.failure === undefined)
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
  }

  #watch(): void {
    if (this.#isOver || this.failure !== undefined) return;
    this.watches += 1;
    const from = this.#position === undefined ? {} : { resourceVersion: this.#position };
    const path = targetOf({ ...this.#wanted, ...from, watch: 'true', allowWatchBookmarks: 'true' });
    const asked = request(`${this.#origin}${path}`, { headers: { authorization: this.#authorization }, agent: false });
    this.#request = asked;
    asked.on('error', () => undefined);
    // The response ends with its connection, and so does a connection without one.
    asked.on('close', () => {
      this.#watch();
    });
    asked.on('response', (response) => {
      this.#response = response;
      if (response.statusCode !== 200 && response.statusCode !== 429 && response.statusCode !== 503)
        this.#fail(`status ${String(response.statusCode)}`);
      let rest = '';
      response.setEncoding('utf8').on('error', () => undefined);
      response.on('data', (chunk: string) => {
        const lines = `${rest}${chunk}`.split('\n');
        rest = lines.pop() ?? '';
        if (response.statusCode === 200) for (const line of lines) if (line !== '') this.#take(line);
      });
      if (this.#isPaused) response.pause();
    });
    asked.end();
  }

  #take(line: string): void {
    const { type, object } = JSON.parse(line) as Frame;
    if (type === 'ERROR') {
      if (object.code === 410) this.#fail(line);
      return;
    }
    this.#position = object.metadata.resourceVersion;
    if (type === 'ADDED') this.items.push(object);
    else if (type !== 'BOOKMARK') this.#fail(line);
    this.#woken();
  }

  #fail(why: string): void {
    this.failure ??= new Error(why);
    this.#woken();
  }
}
