import type { Answered, Asked } from '../../support/ask.ts';
import type { NodeProcess } from './node-process.ts';
import type { Outages } from './outages.ts';

export type Request = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /**
   * The credential may be from another node a moment ago: a node that cannot read the log answers 503 instead of 401.
   */
  readonly credentialIsNew?: boolean;
};

/** An answer, and which node gave it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are matched, not typed
export type Reply = Answered & { readonly node: NodeProcess; readonly json: any };

/** How many refused writes precede the repair of the log. */
const refusalsBeforeRepair = 3;

/**
 * A client that treats the nodes as one service: each request goes to the next node. Answers that no service may give
 * are errors; a write refused while the log is unavailable is sent again, to the other node.
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

  /** The node next in turn. */
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
    this.#check(reply, { method, path, credentialIsNew, isWell: before === 'well' && this.#outages.state === 'well' });
    return reply;
  }

  /**
   * A write, sent again until it is known what came of it. @returns the last answer, and whether an earlier one was
   * 503.
   */
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

  /** The log is repaired after a while; until then refused callers wait a little. */
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

  #check(
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
