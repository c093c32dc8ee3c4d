/** Clients of the tutorial's plugin that run through an upgrade: writers, readers and informers of each node. */
import { connect, type Informer } from '../../../src/client/client.ts';
import { adminAuthorization } from '../../support/server/start-server.ts';
import type { Answered } from '../../support/ask.ts';
import type { NodeProcess } from '../support/node-process.ts';
import type { RecordedWrites } from './recorded-writes.ts';

export const group = '/apis/links.example.com';
const json = { 'content-type': 'application/json' };
const merge = { 'content-type': 'application/merge-patch+json' };

export type Link = {
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
};
export type LinkList = { readonly metadata: { readonly resourceVersion: string }; readonly items: readonly Link[] };

/** The served version that the clients use, and the member with the address in this version. */
export type Spoken = { readonly version: 'v1alpha1' | 'v1beta1'; readonly address: 'url' | 'target' };
export const alpha: Spoken = { version: 'v1alpha1', address: 'url' };
export const beta: Spoken = { version: 'v1beta1', address: 'target' };

type Written = Answered & { readonly waitedMs: number };

/** A client that repeats its work until it is stopped. */
class Repeating {
  #stopped = false;
  readonly #done: Promise<void>;
  turns = 0;

  constructor(work: (turn: number) => Promise<void>) {
    this.#done = this.#run(work);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  async #run(work: (turn: number) => Promise<void>): Promise<void> {
    for (; !this.#stopped; this.turns += 1) await work(this.turns);
  }
}

export type ClientsOptions = {
  readonly node: NodeProcess;
  readonly spoken: Spoken;
  readonly recorded: RecordedWrites;
  /** The links that only these clients write. */
  readonly names: readonly string[];
  /** Part of the names of new links. */
  readonly id: string;
};

/** A writer of known links, a reader that also creates links, and an informer. */
export class LinkClients {
  readonly #options: ClientsOptions;
  readonly #clients: readonly Repeating[];
  readonly #stopping = new AbortController();
  readonly informer: Informer;

  constructor(options: ClientsOptions) {
    this.#options = options;
    const { node, spoken, recorded } = options;
    this.#clients = [
      new Repeating(async (turn) => {
        await this.#patch(turn);
        await this.#replace(turn);
      }),
      new Repeating(async (turn) => {
        await this.#read(turn);
        if (turn % 8 === 0) await this.#create(turn);
      }),
    ];
    this.informer = informerOf(node, spoken, {
      signal: this.#stopping.signal,
      onError: (error) => recorded.surprises.push(`informer: ${String(error)}`),
    });
  }

  get turns(): readonly number[] {
    return this.#clients.map(({ turns }) => turns);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map(async (client) => client.stop()));
  }

  end(): void {
    this.#stopping.abort();
  }

  get #path(): string {
    return `${group}/${this.#options.spoken.version}/links`;
  }

  /** Even places belong to patches, odd ones to replacements, so that no two clients write one link. */
  #nameAt(turn: number, parity: 0 | 1): string {
    const { names } = this.#options;
    return names[((turn * 7 * 2) % (names.length - (names.length % 2))) + parity]!;
  }

  async #patch(turn: number): Promise<void> {
    const name = this.#nameAt(turn, 0);
    const label = this.#label('p', turn);
    const body = JSON.stringify({ metadata: { labels: { turn: label } }, spec: { priority: turn % 101 } });
    const asked = { method: 'PATCH', headers: merge, body };
    this.#note(await this.#write(`${this.#path}/${name}`, asked), name, label, 200);
  }

  /** Reads a link and writes it back as a whole. Another writer of the server may be first: 409, and a later turn. */
  async #replace(turn: number): Promise<void> {
    const name = this.#nameAt(turn, 1);
    const label = this.#label('r', turn);
    const read = await this.#ask(`${this.#path}/${name}`);
    if (!this.#isRead(read)) return;
    const { metadata, ...link } = JSON.parse(read.text) as Link;
    const body = JSON.stringify({ ...link, metadata: { ...metadata, labels: { ...metadata.labels, turn: label } } });
    const answer = await this.#write(`${this.#path}/${name}`, { method: 'PUT', headers: json, body });
    if (answer.status !== 409) this.#note(answer, name, label, 200);
  }

  async #create(turn: number): Promise<void> {
    const { spoken, id } = this.#options;
    const name = `new-${id}-${String(turn)}`;
    const label = this.#label('c', turn);
    const spec = { slug: name, groupName: 'welcome', title: 'New', [spoken.address]: `https://example.com/${name}` };
    const body = JSON.stringify({ metadata: { name, labels: { turn: label } }, spec });
    this.#note(await this.#write(this.#path, { method: 'POST', headers: json, body }), name, label, 201);
  }

  async #read(turn: number): Promise<void> {
    const { names, spoken } = this.#options;
    const isList = turn % 4 === 0;
    const path = isList
      ? `?fieldSelector=spec.priority>50&sort=spec.slug&page=1&size=20`
      : `/${names[turn % names.length]!}`;
    const read = await this.#ask(`${this.#path}${path}`);
    if (!this.#isRead(read)) return;
    const body = JSON.parse(read.text) as Link & LinkList;
    for (const { apiVersion, spec } of isList ? body.items : [body])
      if (!apiVersion.endsWith(spoken.version) || typeof spec[spoken.address] !== 'string')
        this.#options.recorded.surprises.push(`${path}: ${read.text.slice(0, 300)}`);
  }

  #label(kind: string, turn: number): string {
    return `${kind}-${this.#options.id}-${String(turn)}`;
  }

  #isRead({ status, headers, text }: Answered): boolean {
    const { recorded } = this.#options;
    if (status === 200) return true;
    if (status !== 503 || headers['retry-after'] === undefined) recorded.surprises.push(`${String(status)} ${text}`);
    return false;
  }

  #note({ status, headers, text, waitedMs }: Written, name: string, label: string, expected: number): void {
    const { recorded } = this.#options;
    if (status === expected) recorded.acknowledge(name, label);
    else if (status === 503 && headers['retry-after'] !== undefined)
      recorded.retry(name, label, { detail: detailOf(text), waitedMs });
    else recorded.surprises.push(`${label}: ${String(status)} ${text}`);
  }

  async #write(path: string, asked: Parameters<NodeProcess['ask']>[1]): Promise<Written> {
    const began = performance.now();
    const answered = await this.#ask(path, asked);
    return { ...answered, waitedMs: performance.now() - began };
  }

  async #ask(path: string, asked: Parameters<NodeProcess['ask']>[1] = {}): Promise<Answered> {
    return this.#options.node.ask(path, asked);
  }
}

export function informerOf(
  { url }: NodeProcess,
  { version }: Spoken,
  options: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Informer {
  const client = connect({
    url,
    fetch: async (target, init) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', adminAuthorization);
      return fetch(target, { ...init, headers });
    },
  });
  return client.informer({ group: 'links.example.com', version, plural: 'links' }, options);
}

function detailOf(text: string): string {
  const { message = text } = JSON.parse(text) as { readonly message?: string };
  return message;
}
