import type { LogServer } from './log-server.ts';
import type { NodeProcess } from './node-process.ts';

/**
 * Whether the log is there, as a client of the nodes may know it: `healing` until every node says that it is ready
 * again.
 */
export class Outages {
  readonly #log: LogServer;
  readonly #nodes: readonly NodeProcess[];
  #healing: Promise<void> = Promise.resolve();
  state: 'well' | 'away' | 'healing' = 'well';
  /** How many there were. */
  count = 0;
  /** From the log's return until all nodes were ready again, in milliseconds, each time. */
  readonly healed: number[] = [];

  constructor(log: LogServer, nodes: readonly NodeProcess[]) {
    this.#log = log;
    this.#nodes = nodes;
  }

  async begin(): Promise<void> {
    await this.#healing;
    this.state = 'away';
    this.count += 1;
    await this.#log.kill();
  }

  /** The log is there again; the nodes find that out by themselves. */
  async end(): Promise<void> {
    await this.#log.restart();
    this.state = 'healing';
    const began = performance.now();
    this.#healing = Promise.all(this.#nodes.map((node) => node.until('/readyz', ({ status }) => status === 200))).then(
      () => {
        this.state = 'well';
        this.healed.push(Math.round(performance.now() - began));
      },
    );
    // The next request awaits it.
    this.#healing.catch(() => undefined);
  }

  async over(): Promise<void> {
    await this.#healing;
  }
}
