import type { Answer } from '../../../src/http/answer.ts';
import { findPast } from '../../../src/http/resources/past/past.ts';
import type { LogPosition } from '../../../src/log/log.ts';
import { UnreadableLogError } from '../../../src/read/lists-at.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { Shown } from '../../support/writing.ts';
import { exchangeOf } from '../exchange.ts';
import { nameOfStream } from '../history.ts';
import type { SimPast } from '../node/audit-fold.ts';
import type { SimNode } from '../node/sim-node.ts';
import { names, streamOf, type, type World } from '../world.ts';

type Page = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Shown[];
};

type Selected = { readonly query: string; readonly selects: (object: ResourceObject) => boolean };

/** The queries of lists, each with the objects that the query selects. */
const selections: readonly Selected[] = [
  { query: '', selects: () => true },
  { query: '&labelSelector=app%3Dx', selects: ({ metadata }) => metadata.labels?.['app'] === 'x' },
  { query: '&fieldSelector=spec.size%3E%3D5', selects: (object) => Number(specOf(object)['size'] ?? NaN) >= 5 },
  { query: '&fieldSelector=spec.tags%3Dt1&sort=spec.title', selects: (object) => tagsOf(object).includes('t1') },
];

/** The maximum number of requests for one page: nodes may be unavailable for long. */
const triesMax = 20;

/**
 * A client that reads objects and lists at earlier positions of the log, and asks another node for each page. Each
 * answer equals the state at the position by the log alone.
 */
export class SimAuditor {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #name: string;
  #isStopped = false;

  constructor(world: World, nodes: readonly SimNode[], name: string) {
    this.#world = world;
    this.#nodes = nodes;
    this.#name = name;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    const { random, timeline } = this.#world;
    while (!this.#isStopped) {
      await timeline.delay(random.between(50, 1_500), 'an auditor thinks');
      const position = this.#position();
      if (position === undefined) continue;
      if (random.chance(0.4)) await this.#get(position);
      else await this.#list(position, random.pick(selections));
    }
  }

  /** The position of any event that all read models fold; undefined if the log has none. */
  #position(): LogPosition | undefined {
    const { shared, random } = this.#world;
    const { folded } = shared;
    return folded.length === 0 ? undefined : random.pick(folded).position;
  }

  async #get(position: LogPosition): Promise<void> {
    const { random, history, timeline, coverage } = this.#world;
    const [name, node] = [random.pick(names), random.pick(this.#nodes)];
    const target = {
      key: type.key,
      group: type.group,
      plural: type.plural,
      apiVersion: type.apiVersion,
      name,
    };
    const exchange = exchangeOf(`at=${position.toString()}`, timeline);
    const asked = await this.#ask(node, async ({ ports }) => findPast(exchange, target, ports));
    if (asked === undefined) return;
    const { answer, past } = asked;
    const step = history.at(streamOf(name), position);
    const expected = step?.after.kind === 'live' ? step.bytes?.toString() : undefined;
    const shown = answer.ok ? answer.object.bytes.toString() : undefined;
    if (!answer.ok && this.#isRefused(answer.answer, { past, position, node })) return;
    coverage.note(answer.ok ? 'an object of the past' : 'no object in the past');
    if (shown !== expected)
      this.#fail(node, past, `shows ${name} at ${position.toString()} as ${String(shown)}, not as ${String(expected)}`);
  }

  async #list(position: LogPosition, selected: Selected): Promise<void> {
    const limit = this.#world.random.between(1, 3);
    const shown: string[] = [];
    const pasts: SimPast[] = [];
    const asked = `at=${position.toString()}&limit=${String(limit)}${selected.query}`;
    for (let query = asked; ;) {
      const found = await this.#page(query, position);
      if (found === undefined) return;
      const { page, node, past } = found;
      pasts.push(past);
      const { resourceVersion, continue: token } = page.metadata;
      if (resourceVersion !== position.toString())
        this.#fail(node, past, `lists ${query} as of ${resourceVersion}, not of ${position.toString()}`);
      for (const { metadata } of page.items) shown.push(`${metadata.name}@${String(metadata.resourceVersion)}`);
      if (token === undefined) {
        this.#check(shown, { position, selected, node, past: pasts.find(({ hasGap }) => hasGap()) ?? past });
        return;
      }
      this.#world.coverage.note('a list of the past goes on');
      query = `${asked}&continue=${token}`;
    }
  }

  #check(
    shown: readonly string[],
    {
      position,
      selected,
      node,
      past,
    }: {
      readonly position: LogPosition;
      readonly selected: Selected;
      readonly node: SimNode;
      readonly past: SimPast;
    },
  ): void {
    const { history, coverage, timeline } = this.#world;
    const expected: string[] = [];
    for (const stream of history.streams.keys()) {
      const step = history.at(stream, position);
      if (step?.after.kind !== 'live' || !selected.selects(step.after.object)) continue;
      expected.push(`${nameOfStream(stream)}@${step.recorded.position.toString()}`);
    }
    if ([...shown].sort().join() !== expected.sort().join()) {
      this.#fail(
        node,
        past,
        `lists ${shown.join()} at ${position.toString()}${selected.query}, not ${expected.join()}`,
      );
      return;
    }
    coverage.note(expected.length > 0 ? 'a list of the past' : 'an empty list of the past');
    node.pastMs = timeline.now;
  }

  /** A page from any node that has it; undefined if no node answers. */
  async #page(
    query: string,
    position: LogPosition,
  ): Promise<{ readonly page: Page; readonly node: SimNode; readonly past: SimPast } | undefined> {
    const { random, timeline } = this.#world;
    for (let tried = 0; tried < triesMax && !this.#isStopped; tried += 1) {
      const node = random.pick(this.#nodes);
      const asked = await this.#ask(node, async ({ collections }) =>
        pageOf(await collections.list(exchangeOf(query, timeline), node.type)),
      );
      if (asked !== undefined) {
        const { answer, past } = asked;
        if ('metadata' in answer) return { page: answer, node, past };
        // The first page is of a node with other indexes.
        if (isExpired(answer) && this.#world.releases?.isNew === true) return undefined;
        if (!this.#isRefused(answer, { past, position, node })) this.#fail(node, past, `refuses ${query}`);
      }
      await timeline.delay(random.between(20, 400), 'an auditor asks again');
    }
    return undefined;
  }

  async #ask<T>(
    node: SimNode,
    call: (past: SimPast) => Promise<T>,
  ): Promise<{ readonly answer: T; readonly past: SimPast } | undefined> {
    const asked = await node.ask(async () => {
      const { past } = node;
      return past === undefined ? undefined : { past, answer: await call(past) };
    });
    return asked?.answer;
  }

  /** Whether an answer is a refusal that says nothing about the past: the node is behind, or cannot read the log. */
  #isRefused(
    answer: Answer,
    { past, position, node }: { readonly past: SimPast; readonly position: LogPosition; readonly node: SimNode },
  ): boolean {
    const reason = answer.kind === 'problem' ? answer.problem.reason : undefined;
    const detail = answer.kind === 'problem' ? answer.problem.detail : answer.kind;
    this.#world.timeline.add(() => `${this.#name}: ${node.name} refuses ${position.toString()}: ${detail}`);
    if (reason === 'unavailable') this.#world.coverage.note('a past that is unavailable');
    if (reason !== 'bad-request') return reason === 'unavailable';
    const folded = past.ports.audit.models.position();
    if (folded >= position)
      this.#fail(node, past, `has folded ${folded.toString()}, and refuses ${position.toString()}`);
    this.#world.coverage.note('a past that the node has not folded');
    return true;
  }

  /** Until a node notices that its audit indexes lack an event, it may answer wrongly. */
  #fail(node: SimNode, { hasGap }: SimPast, detail: string): void {
    if (hasGap()) this.#world.coverage.note('a past that lacks an event');
    else this.#world.fail(new Error(`${this.#name}: ${node.name} ${detail}`));
  }
}

function isExpired(answer: Answer): boolean {
  return answer.kind === 'problem' && answer.problem.reason === 'expired';
}

/** The page, or the refusal; a log that does not answer during the response is a refusal too. */
async function pageOf(answer: Answer): Promise<Page | Answer> {
  if (answer.kind === 'bytes') return JSON.parse(Buffer.from(answer.bytes).toString()) as Page;
  if (answer.kind !== 'stream') return answer;
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of answer.chunks) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof UnreadableLogError)) throw error;
    return { kind: 'problem', problem: { reason: 'unavailable', detail: error.message } };
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as Page;
}

function specOf(object: ResourceObject): Readonly<Record<string, unknown>> {
  return object['spec'] as Readonly<Record<string, unknown>>;
}

function tagsOf(object: ResourceObject): readonly unknown[] {
  const { tags = [] } = specOf(object) as { readonly tags?: readonly unknown[] };
  return tags;
}
