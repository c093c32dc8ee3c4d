import { must } from '../../../src/base/unreachable.ts';
import { visitor } from '../../../src/command/subject.ts';
import { logPosition, type LogPosition } from '../../../src/log/log.ts';
import { indexOf, type Selection } from '../../../src/resource/query/list-query.ts';
import { clientOf } from '../../../src/read/client.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { WatchStart } from '../../../src/watch/watch-plan.ts';
import type { Watcher } from '../../../src/watch/watcher.ts';
import { RecordingSink, type Seen } from '../../watch/recording-sink.ts';
import { noFaults } from '../faults.ts';
import { nameOfStream, type History, type Step } from '../history.ts';
import type { SimNode } from '../node/sim-node.ts';
import { type, type World } from '../world.ts';

type Selecting = {
  readonly label: string;
  readonly name?: string;
  readonly selection: Selection;
  readonly selects: (object: ResourceObject) => boolean;
};

const nothing: Selection = { labels: [], fields: [] };
const size = must(indexOf(type.indexes, 'spec.size'), 'spec.size is indexed');

const selectings: readonly Selecting[] = [
  { label: 'everything', selection: nothing, selects: () => true },
  {
    label: 'app=x',
    selection: { labels: [{ key: 'app', operator: 'in', values: ['x'] }], fields: [] },
    selects: ({ metadata: { labels } }) => labels?.['app'] === 'x',
  },
  {
    label: 'size>=5',
    selection: { labels: [], fields: [{ index: size, operator: '>=', key: 5 }] },
    selects: (object) => ((object['spec'] as { readonly size?: number }).size ?? -1) >= 5,
  },
  { label: 'the one b', name: 'b', selection: nothing, selects: ({ metadata: { name } }) => name === 'b' },
];

type Connection = { readonly node: SimNode; readonly sink: RecordingSink; readonly watcher: Watcher };

/** What one watcher has seen, over all its connections to all nodes. */
type Story = { readonly start: 'state' | LogPosition; readonly seen: Seen[] };

/** A client that lists and watches, is cut off, and goes on elsewhere from the last thing it saw. */
export class SimWatcher {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #name: string;
  readonly #selecting: Selecting;
  #story: Story;
  #stopped = false;
  #connection: Connection | undefined;

  constructor(world: World, nodes: readonly SimNode[], name: string) {
    this.#world = world;
    this.#nodes = nodes;
    this.#name = name;
    this.#selecting = world.random.pick(selectings);
    this.#story = { start: world.random.chance(0.7) ? 'state' : logPosition(0n), seen: [] };
  }

  /** Whether it has everything up to the present of its node. */
  get settled(): boolean {
    const { watcher, node } = this.#connection ?? {};
    return watcher?.state === 'live' && watcher.outbox.unreadBytes === 0 && node?.serving !== undefined;
  }

  async run(): Promise<void> {
    const { random, timeline } = this.#world;
    const isOver = (): boolean => this.#stopped;
    while (!isOver()) {
      const connection = await this.#connect(random.pick(this.#nodes));
      if (connection === undefined) {
        await timeline.delay(random.between(20, 200), 'a watcher waits');
        continue;
      }
      this.#connection = connection;
      const { sink, watcher } = connection;
      while (!isOver() && watcher.state !== 'closed' && !random.chance(this.#world.faults() === noFaults ? 0 : 0.1)) {
        if (random.chance(0.1)) sink.block();
        await timeline.delay(random.between(20, 400), 'a watcher watches');
        sink.unblock();
      }
      this.#leave();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#leave();
  }

  async #connect(node: SimNode): Promise<Connection | undefined> {
    const { coverage, timeline } = this.#world;
    const from = placeReached(this.#story);
    const start: WatchStart =
      from === undefined ? { kind: 'state', notBefore: undefined, marksEnd: true } : { kind: 'after', position: from };
    if (from === undefined) this.#story.seen.length = 0;
    else if (this.#story.seen.length > 0) coverage.note('a watch resumed');
    const sink = new RecordingSink();
    const { name, selection } = this.#selecting;
    const opened = await node.ask((serving) =>
      node.watch(
        serving,
        {
          type,
          name,
          subject: visitor,
          client: clientOf(visitor, ''),
          selection,
          start,
          bookmarks: true,
          timeoutMs: undefined,
        },
        sink,
      ),
    );
    timeline.add(
      () =>
        `${this.#name} watches ${this.#selecting.label} on ${node.name} after ${from?.toString() ?? 'a list'}: ` +
        (opened === undefined ? 'refused' : 'taken'),
    );
    return opened === undefined ? undefined : { node, sink, watcher: opened.answer };
  }

  /** The last it was sent may never have arrived. */
  #leave(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    const { sink, watcher, node } = connection;
    watcher.closed();
    sink.unblock();
    const { random, coverage, timeline, fail } = this.#world;
    const ending = sink.ending?.reason ?? 'left';
    coverage.note(`a watch ended: ${ending}`);
    // A log that is away for a while costs nobody their watch, and every position was one that some node gave.
    if (ending === 'expired' || ending === 'failed')
      fail(
        new Error(
          `${this.#name} reports that its watch of ${this.#selecting.label} ${ending}: ${sink.ending?.detail ?? ''}`,
        ),
      );
    const { seen } = sink;
    const read = this.#stopped ? seen : seen.slice(0, seen.length - (random.chance(0.3) ? random.below(3) : 0));
    this.#story.seen.push(...read);
    timeline.add(
      () =>
        `${this.#name} left ${node.name} (${ending}) having seen ` +
        read.map(({ type: kind, name, resourceVersion }) => `${kind} ${name}@${resourceVersion}`).join(', '),
    );
  }

  /** Invariant 7: list and watch together are the history of the selected objects, with neither gap nor repeat. */
  check(until: LogPosition): void {
    const { history, coverage } = this.#world;
    const { start, seen } = this.#story;
    const end = start === 'state' ? seen.findIndex(({ endMark }) => endMark) : -1;
    if (start === 'state' && end === -1) throw new Error(`${this.#name} never saw the end of its list`);
    const from = start === 'state' ? logPosition(BigInt(seen[end]?.resourceVersion ?? '0')) : start;
    const listed = seen.slice(0, Math.max(0, end)).filter(({ type: kind }) => kind !== 'BOOKMARK');
    const followed = seen.slice(end + 1).filter(({ type: kind }) => kind !== 'BOOKMARK');
    if (start === 'state')
      same(
        listed.map(seenText).sort(),
        expectedState(history, from, this.#selecting),
        `${this.#name}: ${this.#selecting.label} at ${from.toString()}`,
      );
    same(
      followed.map(seenText),
      expectedAfter(history, { after: from, until }, this.#selecting),
      `${this.#name}: ${this.#selecting.label} after ${from.toString()}`,
    );
    coverage.note('events watched', followed.length);
  }
}

/** Undefined where it was cut off within its list: there is nothing to resume from. */
function placeReached({ start, seen }: Story): LogPosition | undefined {
  if (start === 'state' && !seen.some(({ endMark }) => endMark)) return undefined;
  const last = seen.at(-1);
  if (last !== undefined) return logPosition(BigInt(last.resourceVersion));
  return start === 'state' ? undefined : start;
}

function expectedAfter(
  history: History,
  { after, until }: { readonly after: LogPosition; readonly until: LogPosition },
  selecting: Selecting,
): readonly string[] {
  const steps = [...history.streams.values()]
    .flat()
    .filter(({ recorded: { position } }) => position > after && position <= until);
  steps.sort((one, other) => (one.recorded.position < other.recorded.position ? -1 : 1));
  return steps.map((step) => shownText(step, selecting)).filter((text) => text !== undefined);
}

function shownText(step: Step, { selects }: Selecting): string | undefined {
  const { before, after, event, recorded } = step;
  const was = before.kind === 'live' && selects(before.object);
  const is = after.kind === 'live' && selects(after.object);
  if (!was && !is) return undefined;
  const kind = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
  // An object that leaves the selection is shown in its old state; a deleted one, as its deletion records it.
  const object = is
    ? after.object
    : event.type === 'ObjectDeleted'
      ? event.object
      : before.kind === 'live'
        ? before.object
        : undefined;
  return lineOf(kind, recorded.position, must(object, 'it is or was selected'));
}

function expectedState(history: History, at: LogPosition, { selects }: Selecting): readonly string[] {
  const lines: string[] = [];
  for (const stream of history.streams.keys()) {
    const step = history.at(stream, at);
    if (
      step?.after.kind === 'live' &&
      step.after.object.metadata.name === nameOfStream(stream) &&
      selects(step.after.object)
    )
      lines.push(lineOf('ADDED', step.recorded.position, step.after.object));
  }
  return lines.sort();
}

function lineOf(kind: string, position: LogPosition, { metadata, ...object }: ResourceObject): string {
  return (
    `${kind} ${metadata.name}@${position.toString()} ${JSON.stringify(metadata.labels ?? {})} ` +
    JSON.stringify(object['spec'])
  );
}

function seenText({ type: kind, name, resourceVersion, labels, spec }: Seen): string {
  return `${kind} ${name}@${resourceVersion} ${JSON.stringify(labels ?? {})} ${JSON.stringify(spec)}`;
}

function same(actual: readonly string[], expected: readonly string[], what: string): void {
  if (actual.join('\n') !== expected.join('\n'))
    throw new Error(`${what}\nsaw:\n${actual.join('\n')}\nexpected:\n${expected.join('\n')}`);
}
