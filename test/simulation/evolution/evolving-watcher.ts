import { deepEqual } from '../../../src/base/json.ts';
import { visitor } from '../../../src/command/subject.ts';
import { formInVersion } from '../../../src/http/representation/versioned-form.ts';
import { framesInForm } from '../../../src/http/watch/formed-frames.ts';
import { ShownObjects } from '../../../src/http/watch/shown-objects.ts';
import { logPosition, type LogPosition } from '../../../src/log/log.ts';
import { clientOf } from '../../../src/read/client.ts';
import type { Watcher } from '../../../src/watch/watcher.ts';
import { lines, RecordingSink, type Seen } from '../../watch/recording-sink.ts';
import { noFaults } from '../faults.ts';
import { nameOfStream, type Step } from '../history.ts';
import type { SimNode } from '../node/sim-node.ts';
import type { World } from '../world.ts';
import type { VersionName } from './conversions.ts';
import { shown, stageOf } from './expected.ts';
import type { Stage } from './stages.ts';

type Connection = {
  readonly node: SimNode;
  readonly sink: RecordingSink;
  readonly watcher: Watcher;
  readonly stage: Stage;
  readonly version: VersionName;
};

/** A client that watches in a version, is cut off, and goes on elsewhere in another one. */
export class EvolvingWatcher {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #name: string;
  readonly #seen: Seen[] = [];
  #stopped = false;
  #connection: Connection | undefined;

  constructor(world: World, nodes: readonly SimNode[], name: string) {
    this.#world = world;
    this.#nodes = nodes;
    this.#name = name;
  }

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
      const { watcher } = connection;
      while (!isOver() && watcher.state !== 'closed' && !random.chance(this.#world.faults() === noFaults ? 0 : 0.1))
        await timeline.delay(random.between(20, 400), 'a watcher watches');
      this.#leave();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#leave();
  }

  async #connect(node: SimNode): Promise<Connection | undefined> {
    const { random, timeline } = this.#world;
    const after = logPosition(BigInt(this.#seen.at(-1)?.resourceVersion ?? 0));
    const opened = await node.ask((serving) => {
      const present = serving.type();
      const type = random.pick(present.versions?.served ?? [present]);
      const form = formInVersion(type, undefined);
      const clock = {
        now: () => timeline.now,
        monotonic: () => timeline.now,
        after: () => ({ cancel: () => undefined }),
      };
      const encoding = form === undefined ? lines : framesInForm(form, lines, clock, new ShownObjects());
      const sink = new RecordingSink(encoding);
      const plan = {
        type,
        name: undefined,
        subject: visitor,
        client: clientOf(visitor, ''),
        selection: { labels: [], fields: [] },
        start: { kind: 'after', position: after },
        bookmarks: false,
        timeoutMs: undefined,
      } as const;
      const watcher = node.watch(serving, plan, sink);
      return { node, sink, watcher, stage: stageOf(present), version: type.version as VersionName };
    });
    return opened?.answer;
  }

  #leave(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    const { sink, watcher, node } = connection;
    watcher.closed();
    const { coverage, timeline, fail } = this.#world;
    const ending = sink.ending?.reason ?? 'left';
    coverage.note(`a watch in ${connection.version} ended: ${ending}`);
    if (ending === 'expired' || ending === 'failed')
      fail(new Error(`${this.#name} reports that its watch ${ending}: ${sink.ending?.detail ?? ''}`));
    const { seen } = sink;
    timeline.add(() => `${this.#name} left ${node.name} (${ending}) having seen ${seen.map(lineOf).join(', ')}`);
    for (const each of seen) this.#checkForm(each, connection);
    this.#seen.push(...seen);
  }

  /** What a watch shows is what a read on its node shows at that position. */
  #checkForm(seen: Seen, { stage, version, node }: Connection): void {
    const { history, fail } = this.#world;
    const step = [...history.streams.values()]
      .flat()
      .find(({ recorded }) => recorded.position.toString() === seen.resourceVersion);
    const object = step?.event.object;
    const expected = object === undefined ? undefined : shown(object, stage, version)['spec'];
    if (!deepEqual(seen.spec, expected))
      fail(
        new Error(
          `${this.#name} saw ${lineOf(seen)} in ${version} of ${stage.version} on ${node.name} as ` +
            `${JSON.stringify(seen.spec)}, not ${JSON.stringify(expected)}`,
        ),
      );
  }

  /** Invariant 7: every change once and in order, over all versions of the type. */
  check(until: LogPosition): void {
    const { history, coverage } = this.#world;
    const steps = [...history.streams.values()].flat().filter(({ recorded }) => recorded.position <= until);
    steps.sort((one, other) => (one.recorded.position < other.recorded.position ? -1 : 1));
    const expected = steps.map(expectedLine).filter((line) => line !== undefined);
    const actual = this.#seen.map(lineOf);
    coverage.note('events watched', actual.length);
    if (actual.join('\n') !== expected.join('\n'))
      throw new Error(`${this.#name} saw:\n${actual.join('\n')}\nexpected:\n${expected.join('\n')}`);
  }
}

function lineOf({ type, name, resourceVersion }: Seen): string {
  return `${type} ${name}@${resourceVersion}`;
}

function expectedLine({ before, after, recorded: { stream, position } }: Step): string | undefined {
  if (before.kind !== 'live' && after.kind !== 'live') return undefined;
  const kind = after.kind === 'live' ? (before.kind === 'live' ? 'MODIFIED' : 'ADDED') : 'DELETED';
  return `${kind} ${nameOfStream(stream)}@${position.toString()}`;
}
