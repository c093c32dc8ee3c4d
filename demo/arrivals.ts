import WebSocket from 'ws';

import type { Api } from './api.ts';

/** Watches a collection over a WebSocket, and counts objects that are added or changed after `resourceVersion`. */
export class Arrivals {
  readonly #socket: WebSocket;
  readonly #seen = new Set<string>();
  #failure: Error | undefined;
  #progress: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#read(data);
    });
    socket.on('close', (code) => {
      this.#fail(new Error(`the watch was closed with ${code.toString()}`));
    });
    socket.on('error', (error) => {
      this.#fail(error);
    });
  }

  static async open(api: Api, path: string, resourceVersion: string): Promise<Arrivals> {
    const socket = new WebSocket(
      `${api.url.replace(/^http/u, 'ws')}${path}?watch=true&resourceVersion=${resourceVersion}`,
      { headers: { authorization: api.authorization } },
    );
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve).once('error', reject);
    });
    return new Arrivals(socket);
  }

  get count(): number {
    return this.#seen.size;
  }

  /** Resolves once a watch event of each name has arrived. */
  async all(names: readonly string[], timeoutMs: number): Promise<void> {
    const missing = new Set(names);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`the watch has not shown ${missing.size.toString()} of ${names.length.toString()} changes`));
      }, timeoutMs);
      const check = (): void => {
        for (const name of missing) if (this.#seen.has(name)) missing.delete(name);
        if (missing.size > 0 && this.#failure === undefined) return;
        clearTimeout(timer);
        if (this.#failure === undefined) resolve();
        else reject(this.#failure);
      };
      this.#progress = check;
      check();
    });
  }

  close(): void {
    this.#socket.removeAllListeners('close').close();
  }

  #read(data: Buffer): void {
    const { type, object } = JSON.parse(data.toString('utf8')) as {
      readonly type: string;
      readonly object: { readonly metadata: { readonly name: string } };
    };
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    this.#seen.add(object.metadata.name);
    this.#progress();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#progress();
  }
}
