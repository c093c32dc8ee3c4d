import { must } from '../../../src/base/unreachable.ts';
import { visitor } from '../../../src/command/subject.ts';
import { logPosition, logStart, type LogPosition } from '../../../src/log/log.ts';
import { clientOf } from '../../../src/read/client.ts';
import type { Shown } from '../../support/writing.ts';
import { RecordingSink, type Seen } from '../../watch/recording-sink.ts';
import { exchangeOf } from '../exchange.ts';
import type { SimNode } from '../node/sim-node.ts';
import { nameOfStream } from '../history.ts';
import { type, type World } from '../world.ts';

type Page = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Shown[];
};
/** An object as it was seen last, and where in the log. */
type Known = { readonly at: LogPosition; readonly text: string };

/** How often it retries before it abandons a list: nodes may be unavailable for long. */
const triesMax = 20;

/**
 * A client that keeps a copy of all objects as controllers do: it lists page by page, watches from the position of the
 * first page, and asks another node each time. Its copy then equals the objects in the log.
 */
export class SimLister {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #name: string;
  #stopped = false;
  /** The position of the node that has shown the newest page. */
  #furthest: LogPosition = logStart;

  constructor(world: World, nodes: readonly SimNode[], name: string) {
    this.#world = world;
    this.#nodes = nodes;
    this.#name = name;
  }

  stop(): void {
    this.#stopped = true;
  }

  async run(): Promise<void> {
    const { random, timeline } = this.#world;
    while (!this.#isOver()) {
      const listed = await this.#list();
      if (listed !== undefined) await this.#follow(listed);
      await timeline.delay(random.between(20, 1_500), 'a lister thinks');
    }
  }

  #isOver(): boolean {
    return this.#stopped;
  }

  async #list(): Promise<{ readonly from: LogPosition; readonly known: Map<string, Known> } | undefined> {
    const limit = this.#world.random.between(1, 2);
    const known = new Map<string, Known>();
    let from: string | undefined;
    for (let query = `limit=${String(limit)}`; ;) {
      const page = await this.#page(query);
      if (page === undefined) return undefined;
      const {
        metadata: { resourceVersion, continue: token },
        items,
      } = page;
      from ??= resourceVersion;
      if (resourceVersion !== from)
        this.#world.fail(new Error(`${this.#name}: a list from ${from} goes on from ${resourceVersion}`));
      for (const { metadata, ...object } of items)
        known.set(metadata.name, {
          at: positionOf(metadata.resourceVersion),
          text: textOf(metadata.labels, object['spec']),
        });
      if (token === undefined) return { from: positionOf(from), known };
      this.#world.coverage.note('a list goes on');
      query = `limit=${String(limit)}&continue=${token}`;
    }
  }

  /** Of any node; undefined where none gives it. */
  async #page(query: string): Promise<Page | undefined> {
    const { random, timeline } = this.#world;
    for (let tried = 0; tried < triesMax && !this.#isOver(); tried += 1) {
      const node = random.pick(this.#nodes);
      const asked = await node.ask(async ({ collections, models }) => ({
        page: await collections.list(exchangeOf(query, timeline), type),
        position: models.position(),
      }));
      const page = asked?.answer.page;
      timeline.add(() => `${this.#name} lists ${query.slice(0, 20)} on ${node.name}: ${page?.kind ?? 'nothing'}`);
      if (asked !== undefined && page?.kind === 'bytes') {
        this.#furthest = later(this.#furthest, asked.answer.position);
        return JSON.parse(Buffer.from(page.bytes).toString()) as Page;
      }
      // 504: this node is too far behind.
      if (asked !== undefined) this.#world.coverage.note('a page waits in vain');
      await timeline.delay(random.between(20, 400), 'a lister asks again');
    }
    return undefined;
  }

  /** Watches until it has seen all that any page may have left out. */
  async #follow({ from, known }: { readonly from: LogPosition; readonly known: Map<string, Known> }): Promise<void> {
    const { random, timeline } = this.#world;
    const plan = {
      type,
      name: undefined,
      subject: visitor,
      client: clientOf(visitor, ''),
      selection: { labels: [], fields: [] },
      start: { kind: 'after', position: from },
      bookmarks: true,
      timeoutMs: undefined,
    } as const;
    for (let tried = 0; tried < triesMax && !this.#isOver(); tried += 1) {
      const node = random.pick(this.#nodes);
      const sink = new RecordingSink();
      const watcher = (await node.ask((serving) => node.watch(serving, plan, sink)))?.answer;
      for (
        let looked = 0;
        watcher !== undefined && watcher.state !== 'closed' && looked < triesMax && !this.#isOver();
        looked += 1
      ) {
        await timeline.delay(random.between(10, 200), 'a lister watches');
        const position = node.serving?.models.position();
        if (
          watcher.state !== 'live' ||
          watcher.outbox.unreadBytes > 0 ||
          position === undefined ||
          position < this.#furthest
        )
          continue;
        watcher.closed();
        this.#check(merged(known, sink.seen), { from, position, node: node.name });
        return;
      }
      watcher?.closed();
      await timeline.delay(random.between(20, 400), 'a lister goes elsewhere');
    }
  }

  /** 7: pages and watch together are the state. */
  #check(
    known: ReadonlyMap<string, Known>,
    { from, position, node }: { readonly from: LogPosition; readonly position: LogPosition; readonly node: string },
  ): void {
    const { history, coverage, fail } = this.#world;
    const expected: string[] = [];
    for (const stream of history.streams.keys()) {
      const step = history.at(stream, position);
      if (step?.after.kind !== 'live') continue;
      const { metadata, ...object } = step.after.object;
      expected.push(
        `${nameOfStream(stream)}@${step.recorded.position.toString()} ${textOf(metadata.labels, object['spec'])}`,
      );
    }
    const has = [...known].map(([name, { at, text }]) => `${name}@${at.toString()} ${text}`);
    coverage.note('a list and a watch are the state');
    if (has.sort().join('\n') === expected.sort().join('\n')) return;
    fail(
      new Error(
        `${this.#name} listed from ${from.toString()} and watched on ${node} up to ${position.toString()}\nhas:\n` +
          `${has.join('\n')}\nexpected:\n${expected.join('\n')}`,
      ),
    );
  }
}

/** An object listed later than an event of the watch is newer than it. */
function merged(listed: ReadonlyMap<string, Known>, seen: readonly Seen[]): ReadonlyMap<string, Known> {
  const known = new Map(listed);
  for (const { type: kind, name, resourceVersion, labels, spec } of seen) {
    const at = positionOf(resourceVersion);
    if (kind === 'BOOKMARK' || (known.get(name)?.at ?? -1n) >= at) continue;
    if (kind === 'DELETED') known.delete(name);
    else known.set(name, { at, text: textOf(labels, spec) });
  }
  return known;
}

function later(one: LogPosition, other: LogPosition): LogPosition {
  return one > other ? one : other;
}

function positionOf(resourceVersion: string | undefined): LogPosition {
  return logPosition(BigInt(must(resourceVersion, 'each listed object has a position')));
}

function textOf(labels: unknown, spec: unknown): string {
  return `${JSON.stringify(labels ?? {})} ${JSON.stringify(spec)}`;
}
