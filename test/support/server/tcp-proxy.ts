import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { resetSocket } from '../reset-socket.ts';

/** Passes connections on to a server that may change, and cuts them when a test says so. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** The port of the server; undefined: connections are refused as they open. */
  target: number | undefined;
  /** How often `cut` had something to cut. */
  cuts = 0;

  private constructor(target: number | undefined) {
    this.target = target;
    this.#server = createServer((near) => {
      this.#pass(near);
    });
  }

  static async start(url: string | undefined): Promise<TcpProxy> {
    const proxy = new TcpProxy(url === undefined ? undefined : Number(new URL(url).port));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Resets every open connection, in the middle of whatever passes. */
  cut(): void {
    this.cuts += this.#pairs.size > 0 ? 1 : 0;
    for (const [near, far] of this.#pairs) {
      resetSocket(near);
      resetSocket(far);
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #pass(near: Socket): void {
    near.on('error', () => undefined);
    if (this.target === undefined) {
      resetSocket(near);
      return;
    }
    const far = connect(this.target, '127.0.0.1');
    far.on('error', () => undefined);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.once('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}
