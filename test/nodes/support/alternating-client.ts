import type { Answered, Asked } from '../../support/ask.ts';
import type { NodeProcess } from './node-process.ts';
import type { Outages } from './outages.ts';

export type Request = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** It may have been made on another node a moment ago: who cannot ask the log for it says so instead of 401. */
  readonly credentialIsNew?: boolean;
};

/** An answer, and which node gave it. */
export type Reply = Answered & { readonly node: NodeProcess; readonly json: any }; // eslint-disable-line @typescript-eslint/no-explicit-any -- objects are matched, not typed

/** How many writes are refused before whoever mends the log does so. */
const refusalsBeforeRepair = 3;

/**
 * One client of what it takes for one service: each request goes to the next node. What it is answered is checked for what
 * no service may answer; a write that is refused for want of the log is sent again, to the other node.
 */
export class AlternatingClient {
  readonly nodes: readonly NodeProcess[];
  readonly #outages: Outages;
  readonly statuses = new Map<string, number>();
  #next = 0;
  #refusals = 0;

  constructor(nodes: readonly NodeProcess[], outages: Outages) {
    this.nodes = nodes;
    this.#outages = outages;
  }

  /** The node whose turn it is. */
  next(): NodeProcess {
    return this.nodes[this.#next++ % this.nodes.length]!;
  }

  /** One request, to the next node or to a given one. */
  async send(
    { method = 'GET', path, headers = {}, body, credentialIsNew = false }: Request,
    node: NodeProcess = this.next(),
  ): Promise<Reply> {
    const before = this.#outages.state;
    const asked: Asked = {
      method,
      headers: {
        ...(body === undefined
          ? {}
          : { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const answered = await node.ask(path, asked);
    const key = `${method} ${answered.status.toString()}`;
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
    const reply: Reply = {
      ...answered,
      node,
      json: answered.text.startsWith('{') ? JSON.parse(answered.text) : undefined,
    };
    this.#judge(reply, { method, path, credentialIsNew, isWell: before === 'well' && this.#outages.state === 'well' });
    return reply;
  }

  /** A write, sent again until it is known what came of it. @returns the last answer, and whether an earlier one was 503. */
  async write(request: Request): Promise<Reply & { readonly isRepeated: boolean }> {
    for (let isRepeated = false; ; isRepeated = true) {
      const reply = await this.send(request);
      if (reply.status !== 503) return { ...reply, isRepeated };
      await this.refused();
    }
  }

  /** A read that names a position is answered 504 by a node that cannot learn of it while the log is away. */
  async read(request: Request, at?: NodeProcess): Promise<Reply> {
    for (;;) {
      const reply = await this.send(request, at);
      if (reply.status < 500) return reply;
      await this.refused();
    }
  }

  /** Somebody mends the log after a while; until then whoever is refused waits a little. */
  async refused(): Promise<void> {
    this.#refusals += 1;
    if (this.#outages.state === 'away' && this.#refusals >= refusalsBeforeRepair) {
      this.#refusals = 0;
      await this.#outages.end();
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }

  #judge(
    { status, headers, text, node }: Reply,
    {
      method,
      path,
      isWell,
      credentialIsNew,
    }: { readonly method: string; readonly path: string; readonly isWell: boolean; readonly credentialIsNew: boolean },
  ): void {
    if (status < 500) return;
    const what = `${node.name} answered ${method} ${path} with ${status.toString()} ${text}`;
    const mayBe = method === 'GET' && !credentialIsNew ? 504 : 503;
    if (status !== mayBe) throw new Error(what);
    if (isWell) throw new Error(`${what} while the log was there`);
    if (status === 503 && headers['retry-after'] === undefined) throw new Error(`${what} without Retry-After`);
  }
}
