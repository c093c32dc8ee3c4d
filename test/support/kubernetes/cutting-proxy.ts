import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A TCP proxy to a port of this machine, which resets its connections when a test says so. */
export class CuttingProxy {
  readonly #pairs = new Set<Socket>();
  readonly #server = createServer((client) => {
    const upstream = connect(this.#target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#pairs.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#pairs.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  readonly #target: number;
  cuts = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  static async start(t: Test, target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    t.teardown(async () => {
      proxy.#server.close();
      for (const socket of proxy.#pairs) socket.destroy();
      await once(proxy.#server, 'close');
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection: what has not been read is lost, in the middle of a line as well. */
  cut(): void {
    this.cuts += this.#pairs.size > 0 ? 1 : 0;
    for (const socket of this.#pairs) socket.resetAndDestroy();
  }
}
