import { createServer } from 'node:net';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { ask, type Answered, type Asked } from '../../support/ask.ts';
import { logSettings, type LogAt } from '../../support/memory/event-log.ts';
import { runCommandLine, type CommandLine } from '../../support/server/command-line.ts';
import { adminAuthorization, testPassword } from '../../support/server/start-server.ts';

export type NodeOptions = {
  readonly eventLog: LogAt;
  /** Where its DATA_DIR is made. */
  readonly folder: string;
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
};

/** A whole server as a process of its own, as its users run it, which may be killed. */
export class NodeProcess {
  readonly name: string;
  readonly url: string;
  readonly #options: NodeOptions;
  readonly #run: CommandLine;
  /** How it ended; undefined while it runs. */
  ended: number | NodeJS.Signals | null | undefined;

  private constructor(options: NodeOptions, port: number) {
    this.name = options.name;
    this.url = `http://127.0.0.1:${port.toString()}`;
    this.#options = options;
    mkdirSync(options.folder, { recursive: true });
    this.#run = runCommandLine(['serve'], {
      cwd: options.folder,
      nodeArgs: options.nodeArgs ?? [],
      env: {
        PORT: port.toString(),
        DATA_DIR: this.dataDir,
        ADMIN_PASSWORD: testPassword,
        ...logSettings(options.eventLog),
        LOG_LEVEL: 'info',
        ...options.env,
      },
    });
    this.exited = this.#run.exited();
    void this.exited.then((ended) => {
      this.ended = ended;
    });
  }

  readonly exited: Promise<number | NodeJS.Signals | null>;

  /** Running, which is not the same as ready: its port is known before it says so. */
  static async launch(options: NodeOptions): Promise<NodeProcess> {
    return new NodeProcess(options, await freePort());
  }

  /** Resolves once it says that it is ready. */
  static async start(options: NodeOptions): Promise<NodeProcess> {
    const node = await NodeProcess.launch(options);
    await node.ready();
    return node;
  }

  get dataDir(): string {
    return join(this.#options.folder, this.#options.name);
  }

  /** The ready line; rejects when it ends without one. */
  async ready(): Promise<string> {
    return this.#run.ready();
  }

  stdout(): string {
    return this.#run.stdout();
  }

  stderr(): string {
    return this.#run.stderr();
  }

  /** As the super administrator, unless the headers say otherwise: an empty one is not sent. */
  async ask(path: string, asked: Asked = {}): Promise<Answered> {
    const headers = { authorization: adminAuthorization, ...asked.headers };
    return ask(this.url, path, {
      ...asked,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
    });
  }

  /**
   * Asks repeatedly, as a client that waits for a server does, until `holds`; before the server listens nothing
   * answers.
   */
  async until(
    path: string,
    holds: (answered: Answered) => boolean,
    { seconds = 60, asked = {} }: { readonly seconds?: number; readonly asked?: Asked } = {},
  ): Promise<Answered> {
    const deadline = performance.now() + seconds * 1_000;
    let last: Answered | undefined;
    while (performance.now() < deadline) {
      if (this.ended !== undefined)
        throw new Error(`${this.name} has ended with ${String(this.ended)}: ${this.stderr()}`);
      last = await this.ask(path, asked).catch(() => undefined);
      if (last !== undefined && holds(last)) return last;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    throw new Error(
      `${this.name}: ${path} did not come to hold within ${seconds.toString()} s: ` +
        (last === undefined ? 'no answer' : `${last.status.toString()} ${last.text}`),
    );
  }

  /** In order, as SIGTERM asks. */
  async stop(): Promise<void> {
    if (this.ended !== undefined) return;
    this.#run.child.kill('SIGTERM');
    const ended = await this.exited;
    if (ended !== 0) throw new Error(`${this.name} stopped with ${String(ended)}: ${this.stderr()}`);
  }

  async kill(): Promise<void> {
    this.#run.child.kill('SIGKILL');
    await this.exited;
  }

  /** Another process on the same DATA_DIR, or on another `options` name. */
  async again(changed: Partial<NodeOptions> = {}): Promise<NodeProcess> {
    return NodeProcess.launch({ ...this.#options, ...changed });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
